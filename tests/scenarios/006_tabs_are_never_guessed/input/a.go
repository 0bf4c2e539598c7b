func f() {
	x := 1
}
