package route

import "testing"

func TestReadAlike(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"^(/a|/b)$": true, `/[0-9]{2,3}`: true, `[[:alpha:]]+`: true, `[]a]`: true, `[^]a]`: true, `a-b--c`: true, `[a\-\-b]`: true, `\d\b\[`: true, `a&&b`: true, `[a\[b]`: true,
		`[a-z&&[^x]]`: false, `[a--b]`: false, `[a~~b]`: false, `[a[b]]`: false, `\<a`: false, `a\>`: false, `a{,2}`: false, `{`: false, `\Qa.b\E`: false, `\012`: false, `\b{start}`: false, `\`: false,
	} {
		if got := readAlike(text); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}
