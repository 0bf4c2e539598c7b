"""Secrets by their names, and places whose change makes something run."""

import subprocess
import sysconfig
from pathlib import Path

import pytest
from guarded import Guarded
from hypothesis import given
from hypothesis import strategies as st

from handrail.guard.globs import Place
from handrail.guard.sensitive import SENSITIVE, Sensitive
from handrail.text.globs import Matcher

SECRETS = """
.env .env.local .envrc .ENV .Env.Production id_rsa id_ed25519 ID_RSA id_rsa.old id_ecdsa_sk a.pem A.PEM server.key
x.p12 x.pfx x.P12 .netrc _netrc .git-credentials .ssh/anything .ssh/config .SSH/x .aws/credentials .aws/config
.config/gcloud/access_tokens.db .azure/msal_token_cache.json .kube/config .npmrc .pypirc .docker/config.json
.cargo/credentials.toml .cargo/credentials .m2/settings.xml .gnupg/secring.gpg ssh_host_ed25519_key .vault-token
.terraform.d/credentials.tfrc.json .pgpass .nuget/NuGet.Config .gem/credentials .environment/x .env.d/prod certs.key/x
""".split()  # noqa: SIM905
PLAIN = """
.env.example .Env.Example env id_rsa.pub id_ed25519.pub .ssh/known_hosts .ssh/id_x.pub a.pem.txt keys.py monkey
README.md config docker/config.json credentials src/key/main.py package.json
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", SECRETS)
def test_it_is_a_secret_by_its_name_wherever_it_lies(name: str) -> None:
    for path in (f"/{name}", f"/home/u/{name}", f"/r/deep/er/{name}", name):
        assert Sensitive().sensitive(path), path


@pytest.mark.parametrize("name", PLAIN)
def test_it_is_none_by_its_name(name: str) -> None:
    assert not Sensitive().sensitive(f"/home/u/{name}")


@pytest.mark.parametrize("name", ["\uff0eenv", ".\uff45nv", "ID_R\u017fA", "a.\uff30\uff25M", "x.\u212aey"])
def test_a_look_alike_by_compatibility_forms_is_the_same_name(name: str) -> None:
    assert Sensitive().sensitive(f"/r/{name}")


def test_the_environment_of_a_process_is_a_secret() -> None:
    assert Sensitive().sensitive("/proc/1/environ")
    assert Sensitive().sensitive("/proc/1/task/1/environ")


@pytest.mark.parametrize(
    "path",
    [".git/hooks/pre-commit", ".git/config", ".git", ".GIT/x", ".vscode/tasks.json", ".idea/x", ".mcp.json",
     ".cursor/mcp.json", "claude_desktop_config.json", ".github/workflows/ci.yml", ".gitlab-ci.yml", ".bashrc",
     ".zshrc", ".zshenv", ".profile", ".config/fish/config.fish", ".claude/settings.json", "Jenkinsfile",
     ".husky/pre-push", ".pre-commit-config.yaml", ".kshrc", ".bash_profile", ".circleci/config.yml"],
)  # fmt: skip
def test_a_place_that_makes_something_run_is_protected_whether_it_exists_or_not(path: str) -> None:
    for place in (f"/home/u/{path}", f"/r/sub/{path}"):
        assert Sensitive().protected(place)


@pytest.mark.parametrize(
    "path", [".gitignore", ".github/CODEOWNERS", "git/x", "src/main.py", "vscode/x", ".gitattributes"]
)
def test_other_places_are_not_protected(path: str) -> None:
    assert not Sensitive().protected(f"/r/{path}")


def test_the_list_can_be_extended_but_not_shortened() -> None:
    place = Place(roots=["/r"], home="/h", real=str)
    more = Sensitive(["*.Secret", "conf/x", "~/y/**", "!.env"], place=place)
    for path in ("/r/a.secret", "/r/d/A.SECRET", "/r/conf/X", "/h/y/z", "/r/.env"):
        assert more.sensitive(path)
    assert not more.sensitive("/h/x")
    assert not more.sensitive("/r/conf/y")


@given(st.text(alphabet="ABcd.\u212a\uff25é/\udcff", max_size=12))
def test_any_name_can_be_asked_about(name: str) -> None:
    sensitive = Sensitive(["*.d"])
    assert sensitive.sensitive(f"/{name}") in (True, False)
    assert sensitive.protected(f"/{name}") in (True, False)


def test_a_search_leaves_out_secrets_and_no_harmless_example(tmp_path: Path) -> None:
    world = Guarded(tmp_path)
    for name in [*SECRETS, *PLAIN]:
        path = world.root / ("in" + str(hash(name) % 7)) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            path.write_text("needle")
    command = [Path(sysconfig.get_path("scripts")) / "rg", "--files", "--hidden", "--no-ignore", "--no-config"]
    for glob in Sensitive().left_out:
        command += ["-g", f"!{glob}"]
    listed = subprocess.run(command, cwd=world.root, capture_output=True, text=True, check=True).stdout.split("\n")
    found = {name for name in listed if name}
    secret = Sensitive()
    assert not [name for name in found if secret.sensitive(f"/{name}")]
    every = {str(p.relative_to(world.root)) for p in world.root.rglob("*") if p.is_file()}
    plain = {name for name in every if not secret.sensitive(f"/{name}")}
    assert {name for name in plain - found if "/.ssh/" not in name.lower()} == set()


def test_every_glob_of_the_list_can_be_read() -> None:
    Matcher(SENSITIVE)


_ANY_NAME = st.one_of(
    st.sampled_from([name.rpartition("/")[2] for name in [*SECRETS, *PLAIN]]),
    st.sampled_from(
        [".env~", ".id_rsa.swp", "a.own", "B.OWN.bak", "\uff0eenv", "a\u2100.own", "\u0338x", "\udcff.pem"]
    ),
    st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=5),
)
_DIRECTORY = st.sampled_from(["/", "/r", "/r/.SSH", "/r/.config/gh", "/r/id_rsa.d", "/r/\uff0eaws", "/R/deep/er"])


@given(_DIRECTORY, st.lists(_ANY_NAME, max_size=6), st.sampled_from([(), ("*.own",), ("deep/er/x*", "[a-b]?")]))
def test_all_names_of_a_directory_are_told_apart_as_each_by_itself(
    directory: str, names: list[str], extra: tuple[str, ...]
) -> None:
    ours = Sensitive(extra, place=Place(roots=["/r"], home="/h", real=str))
    each = [name for name in names if ours.sensitive(f"{directory.rstrip('/')}/{name}")]
    assert list(ours.those(directory, names)) == each
