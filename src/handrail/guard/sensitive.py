"""Which files a person must be asked about: secrets by their names, and places whose change makes something run.

It knows names, in whatever case and Unicode form they are written; the list can be extended, never shortened.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final

from handrail.guard.globs import PathSet, Place
from handrail.text.globs import Matcher, expand, is_literal, to_regex

SENSITIVE: Final = (
    # keys and key stores
    "id_{rsa,dsa,ecdsa,ecdsa_sk,ed25519,ed25519_sk,xmss}*",
    "ssh_host_*_key",
    ".ssh/**",
    ".gnupg/**",
    "*.{pem,key,p12,pfx,p8,ppk,jks,keystore,kdbx,agekey}",
    # secrets of programs
    ".env*",
    "{.,_}netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".pgpass",
    ".mylogin.cnf",
    ".htpasswd",
    ".vault-token",
    ".password-store/**",
    ".local/share/keyrings/**",
    "Library/Keychains/**",
    "/proc/**/environ",
    # clouds
    ".aws/{credentials,config}",
    ".aws/{sso,cli}/cache/**",
    ".config/gcloud/**",
    "application_default_credentials.json",
    ".azure/**",
    ".kube/config",
    "kubeconfig",
    ".oci/config",
    "{.boto,.s3cfg,.databrickscfg}",
    ".config/{rclone/rclone.conf,doctl/config.yaml,gh/hosts.yml,glab-cli/config.yml,hub}",
    ".terraform.d/credentials.tfrc.json",
    "{.terraformrc,terraform.rc}",
    "{.fly/config.yml,.netlify/config.json,.heroku/credentials}",
    # registries
    "{.npmrc,.pypirc,.dockercfg}",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".cargo/{credentials,credentials.toml}",
    ".gem/credentials",
    ".m2/{settings,settings-security}.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet.Config",
    "{.composer,composer}/auth.json",
)
"""Globs of names; one with a slash is the end of a path. What lies in a directory with such a name is a secret too."""

HARMLESS: Final = (".env.example", "id_*.pub", ".ssh/{*.pub,known_hosts*}")
"""What the globs above would name, and holds no secret."""

PROTECTED: Final = (
    ".git{,/**}",
    # editors
    "{.vscode,.idea,.zed,.fleet,.devcontainer}{,/**}",
    "*.code-workspace",
    # clients of MCP and agents
    "{.mcp,mcp,mcp_config,.claude,claude_desktop_config,mcp_settings,cline_mcp_settings}.json",
    "{.cursor,.claude,.gemini,.codex,.windsurf,.continue,.roo,.cline,.amazonq,.kiro}/**",
    # what runs on a commit or in continuous integration
    "{.husky,.githooks,.circleci,.buildkite,.teamcity,.woodpecker}{,/**}",
    "{.github,.gitea,.forgejo}/{workflows,actions}{,/**}",
    "{.gitlab-ci,.travis,.drone,.woodpecker,appveyor,.appveyor,.cirrus,.pre-commit-config}.{yml,yaml}",
    "{azure,bitbucket}-pipelines.{yml,yaml}",
    "Jenkinsfile",
    # what a shell or a login starts
    ".{zsh,ksh,mksh,csh,tcsh}rc",
    ".bash{rc,_profile,_login,_logout,_aliases}",
    ".z{shenv,profile,login,logout}",
    "{.profile,.login,.logout,.xprofile,.xinitrc,.xsession,.xsessionrc,.pam_environment,.inputrc}",
    ".config/{fish,autostart,systemd,environment.d}/**",
    "Library/Launch{Agents,Daemons}/**",
    "{.gitconfig,.config/git/config,.vimrc,.config/nvim/**,.tmux.conf}",
)
"""Globs of places that need a person's word before a write."""

_BACKUPS: Final = "bak|backup|old|orig|save|sav|tmp"
_BACKUP: Final = re.compile(rf"(?:~|\.(?:{_BACKUPS}|sw[a-z])|\.~\d+~)+$")
_SWAP: Final = re.compile(r"\.sw[a-z]$")
_EXCEPT: Final = {SENSITIVE[0]: ".pub", ".env*": ".example"}


class Sensitive:
    """The list with a user's own globs added; `extra` are policy globs and need `place` where they hold a slash."""

    def __init__(self, extra: Sequence[str] = (), *, place: Place | None = None) -> None:
        self._extra = PathSet(
            [folded(glob) for glob in extra], place or Place(roots=(), home="/", real=str), ignore_case=True
        )

    def sensitive(self, path: str) -> bool:
        """Whether the name of an absolute path, given or real, is that of a secret."""
        plain = folded(path).lstrip("/")
        directory, _, name = plain.rpartition("/")
        if not (self._extra or _suspects((name,)) or any(_known_place(directory))):
            return False
        original = _original(plain)
        return self._names(plain) or (original != plain and self._names(original))

    def quiet(self, directory: str) -> bool:
        """Whether names alone tell in an absolute directory: one that `may_be` doesn't know is no secret there."""
        return not (self._extra or any(_known_place(folded(directory).lstrip("/"))))

    def may_be(self, name: str) -> bool:
        """Whether a name has to be looked at more closely in a quiet directory; others are no secrets there."""
        return _may_be(name)

    def those(self, directory: str, names: Sequence[str]) -> Sequence[str]:
        """Which of the children of an absolute directory are, by their names."""
        place, together = folded(directory).lstrip("/"), folded("\0".join(names))
        base = directory.rstrip("/") + "/"
        if any(_known_place(place)) or "/" in together:
            return [name for name in names if self.sensitive(base + name)]
        plain = together.split("\0")
        few = set(_suspects(plain))
        if self._extra:
            few.update(self._extra.here("/" + place).those(plain))
        return [name for name in names if folded(name) in few and self.sensitive(base + name)] if few else ()

    def _names(self, plain: str) -> bool:
        directory, _, name = plain.rpartition("/")
        secret_place, telling = _known_place(directory)
        listed = secret_place or _secret_names().fullmatch("/" + name) or (telling and _secret_paths().match(plain))
        if listed and not _harmless().match(plain):
            return True
        return bool(self._extra) and self._extra.match("/" + plain)

    def protected(self, path: str) -> bool:
        """Whether a write to the absolute path needs a person's word."""
        return _guarded().match(folded(path).lstrip("/"))

    @cached_property
    def left_out(self) -> Sequence[str]:
        """Globs of the listed secrets for a search to leave out below any directory, whatever their case."""
        names = [glob for glob in SENSITIVE if glob not in _EXCEPT]
        return [*(_any_case(_anywhere(glob)) for glob in names), *_all_but(_EXCEPT)]

    @property
    def extra_left_out(self) -> Sequence[str]:
        """The user's own globs, absolute, whatever the case; those with classes or escapes aren't among them."""
        return [_any_case(glob) for glob in self._extra.absolute if not {"[", "\\"} & set(glob)]


def _original(path: str) -> str:
    """The path that a backup was made of: without what editors and people put behind (or around) a name."""
    directory, slash, name = path.rpartition("/")
    kept = _BACKUP.sub("", name)
    if kept != name and kept.startswith(".") and _SWAP.search(name):
        kept = kept[1:]
    return directory + slash + kept if kept else path


def folded(path: str) -> str:
    """A name as it is compared: compatibility forms and case folded, so that no look-alike slips through."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFKC", path).casefold()


def _anywhere(glob: str) -> str:
    return glob.removeprefix("/") if "/" not in glob.rstrip("/") or glob.startswith(("/", "**/")) else "**/" + glob


def _any_case(glob: str) -> str:
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isascii() and c.isalpha() else c for c in glob)


def _all_but(exceptions: Mapping[str, str]) -> Iterator[str]:
    """Globs of the names that start as each key's alternatives say, but for those that then end in its value."""
    for glob, rest in exceptions.items():
        for start in expand(glob.removesuffix("*")):
            for length, character in enumerate(rest):
                head = _any_case(start + rest[:length])
                other = character.lower() + character.upper() if character.isalpha() else character
                yield from (head, f"{head}[!{other}]*")
            yield _any_case(start + rest) + "?*"


def _compiled(globs: Sequence[str]) -> Matcher:
    return Matcher([_anywhere(glob).lower() for glob in globs])


_SECRET_PATHS: Final = [glob for glob in SENSITIVE if "/" in glob]
_TELLING: Final = frozenset(folded(one).lstrip("/").partition("/")[0] for glob in _SECRET_PATHS for one in expand(glob))
"""Every path that `_SECRET_PATHS` name has one of these components."""


@lru_cache(1 << 14)
def _known_place(directory: str) -> tuple[bool, bool]:
    """Whether a directory has, or lies in one with, the name of a secret; whether `_SECRET_PATHS` may name in it."""
    above, _, name = directory.rpartition("/")
    secret, telling = _known_place(above) if above else (False, False)
    return secret or _secret_names().fullmatch("/" + name) is not None, telling or name in _TELLING


@cache
def _secret_names() -> re.Pattern[str]:
    """Our own list, which can't backtrack, on one short name: there the standard library answers soonest."""
    globs = [one.lower() for glob in SENSITIVE if "/" not in glob for one in expand(glob)]
    return re.compile("|".join(to_regex("/" + glob)[2:-2] for glob in globs))


@cache
def _hints() -> tuple[frozenset[str], tuple[str, ...], frozenset[str]]:
    """Names, beginnings and last extensions: what `_secret_names` knows, or is a backup's, has one of them."""
    globs = [one.lower() for glob in SENSITIVE if "/" not in glob for one in expand(glob)]
    names = {glob for glob in globs if is_literal(glob)}
    extensions = {glob[2:] for glob in globs if glob.startswith("*.") and is_literal(glob[2:])}
    rest = [glob for glob in globs if glob not in names and glob[2:] not in extensions]
    starts = tuple(dict.fromkeys(re.split(r"[*?\[\\]", glob)[0] for glob in rest))
    swaps = {f"sw{letter}" for letter in string.ascii_lowercase}
    return frozenset(names), starts, frozenset(extensions | swaps | set(_BACKUPS.split("|")))


@lru_cache(1 << 14)
def _may_be(name: str) -> bool:
    known, starts, extensions = _hints()
    plain = name.lower()
    told = plain in known or plain.startswith(starts) or plain[-1:] == "~" or plain.rpartition(".")[2] in extensions
    return told or not name.isascii()


def _suspects(names: Iterable[str]) -> Sequence[str]:
    """The folded names that may be secrets or backups of such; cheap, and seldom wrong."""
    known, starts, extensions = _hints()
    return [
        name
        for name in names
        if name in known or name.startswith(starts) or name[-1:] == "~" or name.rpartition(".")[2] in extensions
    ]


@cache
def _secret_paths() -> Matcher:
    return _compiled(_SECRET_PATHS)


@cache
def _harmless() -> Matcher:
    return _compiled(HARMLESS)


@cache
def _guarded() -> Matcher:
    return _compiled(PROTECTED)
