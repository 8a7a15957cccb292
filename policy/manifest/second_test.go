package manifest_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy/manifest"
)

// TestParseRefusesWhatKubectlReadsOtherwise has texts that two readers of YAML take for different
// policies. The one that a cluster enforces could be wider than the one that is proven.
func TestParseRefusesWhatKubectlReadsOtherwise(t *testing.T) {
	t.Parallel()
	const quoted = ": write it so that every reader of YAML reads the same, such as in quotes"
	const ends = ", with a space behind the colon that ends it"
	const apart = ": separate documents by a line that is ---"
	// The lexer of meshproof reads such a number as a text, and the policy of a foreign compiler would have a text.
	const beyond = " is beyond 64 bits, and no two readers of YAML keep it alike: write a smaller number, or a text in quotes"
	for yaml, want := range map[string]string{
		"a: 1 # a comment\u2028b: 2\n":                  "p.yaml:1: kubectl reads 2 keys here, and meshproof 1: write them so that every reader of YAML reads the same",
		"a: 1 # a comment\u2029b: 2\n":                  "",
		"a: 1 # a comment\u0085b: 2\n":                  "",
		"a: 1\r---\rb: 2\r":                             "p.yaml:1: kubectl passes over the end of the document that begins here" + apart,
		"a: 1\n...\nb: 2\n":                             "p.yaml:1: kubectl passes over the end of the document that begins here" + apart,
		"a: 1\n---\nb: 2\n...\nc: 3\n":                  "p.yaml:2: kubectl passes over the end of the document that begins here" + apart,
		"a: 1\n--- {b: 2}\n":                            "p.yaml:2: kubectl reads no document here" + apart,
		"a: off\u2028\n":                                "",
		"a: sp\tace\n":                                  "",
		"na\tme: a\n":                                   "",
		"a: {app:backend}\n":                            "",
		"a: {app: b, namespace:shop}\n":                 "",
		"a: 1e3\n":                                      `p.yaml:1: a: kubectl reads the number 1000 here, and meshproof the text "1e3"` + quoted,
		"a: {b: [18446744073709551616]}\n":              "p.yaml:1: a.b[0]: 18446744073709551616" + beyond,
		"a:\n  b: -9223372036854775809\n":               "p.yaml:2: a.b: -9223372036854775809" + beyond,
		"a: 1_000_000_000_000_000_000_000\n":            "p.yaml:1: a: 1_000_000_000_000_000_000_000" + beyond,
		`{"a": 18446744073709551616}`:                   "p.yaml:1: a: 18446744073709551616" + beyond,
		"y: a\n":                                        `p.yaml:1: y: kubectl reads the key "true" here, and meshproof "y"` + quoted + ends,
		"a: {k8s:app.example: b}\n":                     `p.yaml:1: a.k8s: kubectl reads the key "k8s:app.example" here, and meshproof "k8s"` + quoted + ends,
		"{y: a, n: b}\n":                                `p.yaml:1: y: kubectl does not read the key "y" here` + quoted + ends,
		"a: \"b\\\n  c\"\nd: 'e\n\n  f'\ng: e\u0085f\n": "",
	} {
		if docs, err := manifest.Parse("p.yaml", []byte(yaml)); err == nil || want != "" && err.Error() != want {
			t.Errorf("Parse(%q) = %d documents, %v\nwant %s", yaml, len(docs), err, want)
		}
	}
}

// TestParseTakesWhatKubectlReadsAlike has texts that look unusual, and that both readers read alike.
func TestParseTakesWhatKubectlReadsAlike(t *testing.T) {
	t.Parallel()
	for _, yaml := range []string{
		"a: 'yes'\nb: yes\nc: [n]\n\"y\": \"no\"\n", "a: 010\nb: 0x1F\nc: 1_000\nd: 0o10\ne: .inf\nf: -.INF\ng: .nan\nh: 2001-01-01\ni: 1:20\n", "a: ~\nb: null\nc:\nd: NULL\n",
		"a: 1\r\n---\r\nb: 2\r\n", "a: 1\rb: 2\r", "--- # a comment\na: 1\n---  \nb: 2\n---", "a: 1\n...\n", "1: a\ntrue: b\n1.5: c\n",
		"a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\nc: |+\n  x\n\n", "a: b\n  c\nd: \"e\n  f\"\n", `{"a": "\u2028\/\ud83d\ude00", "b": [1, -2.5, true, null]}`,
		"a: \"\\u2028\\x85\\e\"\n", "a:\n- b\n-\n  - c\n", "'a b': \"c: d\"\n", "18446744073709551615: 1\nb: 18446744073709551615\nc: -9223372036854775808\n",
	} {
		if docs, err := manifest.Parse("p.yaml", []byte(yaml)); err != nil || len(docs) == 0 {
			t.Errorf("Parse(%q) = %d documents, %v", yaml, len(docs), err)
		}
	}
}

// TestAppliedReadsWords has a document that kubectl never gets, and that is as it reads it: a file and a case refuse the same words.
func TestAppliedReadsWords(t *testing.T) {
	t.Parallel()
	const text = "{a: 'yes', b: [{c: yes}, y, Off, on, \"no\"], d: yesterday, e: oN, f: N}"
	whole, err := manifest.Parse("p.yaml", []byte("case: x\npolicies: ["+text+"]\n"))
	if err != nil || len(whole) != 1 {
		t.Fatal(len(whole), err)
	}
	written, _ := whole[0].Lookup("policies[0]")
	if got, want := written.Flow(), `{a: "yes", b: [{c: "yes"}, "y", "Off", "on", "no"], d: yesterday, e: "oN", f: "N"}`; got != want {
		t.Errorf("as it is written: %s, want %s", got, want)
	}
	ofFile, err := manifest.Parse("p.yaml", []byte(text))
	if err != nil || len(ofFile) != 1 {
		t.Fatal(len(ofFile), err)
	}
	if got, want := written.Applied().Flow(), ofFile[0].Flow(); got != want {
		t.Errorf("as it is applied: %s, want %s", got, want)
	}
}
