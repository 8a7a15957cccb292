package manifest_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy/manifest"
)

// TestPlainFiles has files that are not read a second time, and files that nearly look like them.
func TestPlainFiles(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]bool{
		"":        true,
		"# a\n\n": true,
		"---\ntype: T\nspec:\n  rules:\n    - a: /b\n      c: true\n    # a comment\n    - d: 80\n  e:\n  - f.g-h\n  - - i\n    - j: 'k l'\n  m: []\n  p:\no: {}\n---\n---\n- \"p: #q\"\n---\n": true,
		"spiffe: spiffe://td/ns/a/sa/b\n":  true,
		"a: yes\n":                         false,
		"Y: a\n":                           false,
		"a: NULL\n":                        false,
		"a: 010\n":                         false,
		"a: 1_0\n":                         false,
		"a: -1\n":                          false,
		"a: 1.0\n":                         false,
		"a: 2001-01-01\n":                  false,
		"a: .inf\n":                        false,
		"a: ~\n":                           false,
		"a: b:\n":                          false,
		"a: b c\n":                         false,
		"a: b #c\n":                        false,
		"a: b \n":                          false,
		"a:  b\n":                          false,
		"a: b\n  c\n":                      false,
		"a:\n  b\n":                        false,
		"a: 'b''c'\n":                      false,
		"a: \"\\x41\"\n":                   false,
		"a: \"b\n  c\"\n":                  false,
		"a: [b]\n":                         false,
		"a: {b: c}\n":                      false,
		"a: b\n...\n":                      false,
		"--- # a\na: b\n":                  false,
		"a: b\r\n":                         false,
		"a: b # c\u2028d: e\n":             false,
		"# a\u2028b: c\n":                  false,
		"a: |\n  b\n":                      false,
		"  a: b\n":                         false,
		"-\n  a: b\n":                      false,
		"a: b\n\t\n":                       false,
		strings.Repeat("a", 101) + ": b\n": false,
	} {
		plain, err := manifest.ReadTwice([]byte(yaml))
		if plain != want || plain && err != nil {
			t.Errorf("%q is plain: %t, want %t; the second parser: %v", yaml, plain, want, err)
		}
	}
}

// fragments are what drawn files are made of: what is plain, and what is close to it.
var fragments = []string{
	"a", "b", "name", "kuma.io/mesh", "y", "No", "null", "true", "off", "0", "7", "010", "1e3", "0x1", "1_0", "1:20", "2001-01-01", "-", "- ", "- ", "-  ", "\n- ", "\n- ", "\n- a: b",
	":", ": ", ": ", ": ", ":\n", ":\n", ":\n  ", ":\n    ", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", " ", "  ", "\n---\n", "---", "\n...\n", "# c", "#", "\n# c\n", "\t", "\r", "\u0085", "\u2028", "\ufeff",
	"\"", "'", "\\", "\"a b\"", "'a: b'", "[]", "{}", "[", "]", "{", "}", ",", "?", "~", ".", "..", "/", "//", "/a", "spiffe://td/a", "<<", "=", "*", "&a", "!a", "|", ">", "%", "@", "é",
}

// TestPlainFilesHideNoDifference draws files, and holds that the second parser would have
// said nothing of those that it does not read.
func TestPlainFilesHideNoDifference(t *testing.T) {
	t.Parallel()
	plainFiles := 0
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "  ", "  ", "    ", "- ", "  - ", "- - ", "# "}).Draw(t, "indent") +
			rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "y", "1", "'a'"}).Draw(t, "key") +
			rapid.SampledFrom([]string{":", ":", ": ", ": a", ": 7", ": 'a b'", ": yes", ": a:b", ": /a", ": []", ": {}", ": true", "", " "}).Draw(t, "value") + "\n"
	})
	property.Check(t, func(t *rapid.T) {
		file := strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), "")
		if rapid.Bool().Draw(t, "odd") {
			at := rapid.IntRange(0, len(file)).Draw(t, "place")
			file = file[:at] + strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 5).Draw(t, "fragments"), "") + file[at:]
		}
		plain, err := manifest.ReadTwice([]byte(file))
		if plain && err != nil {
			t.Fatalf("%q is plain, but: %v", file, err)
		}
		if plain {
			plainFiles++
		}
	})
	if plainFiles == 0 {
		t.Error("no plain file was drawn")
	}
}

// TestOwnFilesHideNoDifference holds the same of the files of this module.
func TestOwnFilesHideNoDifference(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		data, err := os.ReadFile("../../" + path)
		if err != nil {
			return err
		}
		if plain, err := manifest.ReadTwice(data); plain && err != nil {
			t.Errorf("%s is plain, but: %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// FuzzPlain looks for files that are not read a second time, though the second parser reads them
// otherwise.
func FuzzPlain(f *testing.F) {
	for _, seed := range append(fragments, "a:\n  - b: c\n    d: 7\n---\ne: 'f'\n", "a: |\n  b\n", "- - a\n  - b: []\n") {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if plain, err := manifest.ReadTwice(data); plain && err != nil {
			t.Fatalf("%q is plain, but: %v", data, err)
		}
	})
}
