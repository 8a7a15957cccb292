package plugins

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/recording"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// effects has the compiler's answers about the policies that it takes: an effectsHead, then an effect on each line. It
// is packed, as the filters of thousands of policies are much alike.
const effects = "effects.jsonl.gz"

// effectsHead says what was asked, and whom.
type effectsHead struct {
	// Asked is the hash of the policies, and of the mesh behind them.
	Asked    string `json:"asked"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
}

// effect is what some policies come to, each of them alone.
type effect struct {
	// Answers has one for each inbound of the mesh.
	Answers []json.RawMessage `json:"answers"`
	// Policies are places in the table.
	Policies []int `json:"policies"`
}

// table has odd policies, each on one line, and the mesh that each of them is asked about.
type table struct {
	policies []string
	mesh     cases.Case
	meshText string
	// unread are parts of policies whose classes or filters cannot be told in full, with the number of such policies.
	unread map[string]int
	// isJoined tells whether the policies of the mesh stand beside one of the table; nil for beside none.
	isJoined func(policy string) bool
	// random is a part of policies that the compiler answers at random; "" for none. They have no recorded answer, so
	// meshproof has to refuse them.
	random string
	// seeds are changes of an answer, each of which is another effect.
	seeds []seed
	// distinct is true where no two answers have the same effect.
	distinct bool
}

// seed changes the answers about a policy of the table, on one inbound.
type seed struct {
	policy   string
	inbound  int
	old, new string
}

// newTable returns a table about the mesh of a case.
func newTable(t *testing.T, policies []string, mesh string) table {
	t.Helper()
	return table{policies: policies, mesh: casetest.Parse(t, mesh), meshText: mesh}
}

// hash reports whether a recording is about these questions.
func (t table) hash() string {
	asked := slices.Clone(t.policies)
	for i, one := range asked {
		if t.isJoined != nil && t.isJoined(one) {
			asked[i] += " beside the mesh"
		}
	}
	return hash(append(asked, t.meshText))
}

// meshUnder returns the mesh with one policy of the table.
func (t table) meshUnder(test *testing.T, one string) cases.Case {
	test.Helper()
	out := t.mesh
	out.Policies = read(test, one)
	if t.isJoined != nil && t.isJoined(one) {
		out.Policies = append(out.Policies, t.mesh.Policies...)
	}
	return out
}

// askEffects asks the compiler about each policy, and writes what those come to that it takes. It returns the version
// of the compiler.
func (p project) askEffects(t *testing.T, of table) string {
	t.Helper()
	var answers []json.RawMessage
	c, err := plugin.Start(t.Context(), plugin.Shell(*p.program), plugin.Options{Record: func(_ policy.Inbound, _, answer []byte) {
		answers = append(answers, slices.Clone(answer))
	}})
	if err != nil {
		t.Fatal(err)
	}
	var all []effect
	for at, one := range of.policies {
		if of.random != "" && strings.Contains(one, of.random) {
			continue
		}
		answers = nil
		mesh := of.meshUnder(t, one)
		for _, in := range mesh.Inbounds {
			if _, err = c.Compile(t.Context(), in.Inbound, mesh.Policies, mesh.Options); err != nil {
				break
			}
		}
		// Envoy refuses a filter that is no sound answer.
		if errors.As(err, new(*plugin.Error)) && !errors.Is(err, plugin.ErrAnswer) {
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		same := func(e effect) bool {
			return slices.EqualFunc(e.Answers, answers, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		}
		i := slices.IndexFunc(all, same)
		if i < 0 {
			i = len(all)
			all = append(all, effect{Answers: answers})
		}
		all[i].Policies = append(all[i].Policies, at)
	}
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	lines := json.NewEncoder(packed)
	lines.SetEscapeHTML(false)
	err = lines.Encode(effectsHead{of.hash(), c.Version, c.Protocol})
	for _, e := range all {
		err = errors.Join(err, lines.Encode(e))
	}
	if err := errors.Join(err, packed.Close(), c.Close(), os.WriteFile(p.file(effects), out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return c.Version
}

// These are what a recording can be wrong in.
var (
	errOtherVersion = errors.New("it is of another version than the other answers")
	errOtherAsked   = errors.New("it is about other policies, or another mesh")
	errTwice        = errors.New("a policy has two effects")
	errAnswers      = errors.New("an effect does not have one answer for each inbound")
)

// readEffects reads a recording of a version. It returns the answers about each policy of the table; nil about one that
// the compiler refused, as it does many.
func (t table) readEffects(text []byte, version string) (protocol int, out [][]json.RawMessage, err error) {
	lines := json.NewDecoder(bytes.NewReader(text))
	var head effectsHead
	if err := lines.Decode(&head); err != nil {
		return 0, nil, err
	}
	switch {
	case head.Version != version:
		return 0, nil, errOtherVersion
	case head.Asked != t.hash():
		return 0, nil, errOtherAsked
	}
	out = make([][]json.RawMessage, len(t.policies))
	for lines.More() {
		var e effect
		if err := lines.Decode(&e); err != nil {
			return 0, nil, err
		}
		if len(e.Answers) != len(t.mesh.Inbounds) {
			return 0, nil, errAnswers
		}
		for _, at := range e.Policies {
			switch {
			case at < 0 || at >= len(out):
				return 0, nil, errOtherAsked
			case out[at] != nil:
				return 0, nil, errTwice
			}
			out[at] = e.Answers
		}
	}
	return head.Protocol, out, nil
}

// apart says in what the answers of the compiler decide otherwise than the policies, or cannot be read; "" where each
// class of requests is decided alike.
func (p project) apart(reading *verdict.Reading, protocol int, answers []json.RawMessage) (differs, unread string) {
	if answers == nil {
		return "meshproof takes the policy, and no answer was recorded: " + p.name + " refuses it, or has no one answer", ""
	}
	var filters []xds.Filters
	for i, in := range reading.Case.Inbounds {
		f, err := plugin.ReadAnswer(protocol, answers[i], in.Inbound)
		if err != nil {
			return err.Error(), ""
		}
		filters = append(filters, f)
	}
	x := examination.Examine(reading, filters, p.anyNames, 0)
	if x.Differing+x.Plaintext > 0 {
		differs = fmt.Sprintf("%d of %d classes are decided otherwise, and %d in plaintext", x.Differing, x.Classes, x.Plaintext)
		if i := slices.IndexFunc(x.Questions, func(q examination.Question) bool { return q.Differs || q.Policies.Effect != q.Filters.Effect }); i >= 0 {
			differs += ": " + x.Questions[i].String()
		}
	}
	return differs, strings.Join(x.Unread, "; ")
}

// affect holds what each policy of the table does by meshproof's program against what it does by the compiler's
// filters, for each class of requests. No Envoy is asked.
func (p project) affect(t *testing.T, of table) {
	t.Helper()
	version := ""
	if *p.program != "" {
		version = p.askEffects(t, of)
	} else {
		// A test of the recordings holds this version against the one that the compiler is built with.
		others, err := recording.Read(p.file("answers.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		version = others.Version()
	}
	path := p.file(effects)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	protocol, recorded, err := of.readEffects(text, version)
	if err != nil {
		t.Fatalf("%s: %v: record again with %s", path, err, again)
	}
	readings := make([]*verdict.Reading, len(of.policies))
	seen := map[string]int{}
	held := 0
	for at, one := range of.policies {
		if parsed(t, one) != nil {
			continue // the test of the refusals has it
		}
		if readings[at], err = verdict.Read(of.meshUnder(t, one)); err != nil {
			t.Errorf("%.300s is read, and refused on an inbound of the mesh: %v", one, err)
			continue
		}
		held++
		differs, unread := p.apart(readings[at], protocol, recorded[at])
		if differs != "" {
			t.Errorf("%.300s: %s", one, differs)
		}
		if unread == "" {
			continue
		}
		known := false
		for part := range of.unread {
			if strings.Contains(one, part) {
				known = true
				seen[part]++
			}
		}
		if !known {
			t.Errorf("%.300s: not verified: %s", one, unread)
		}
	}
	if !maps.Equal(seen, of.unread) {
		t.Errorf("not verified are policies with %v, want %v", seen, of.unread)
	}
	if held < 500 {
		t.Errorf("%d policies are held", held)
	}
	p.noticed(t, of, readings, protocol, recorded)
	of.wrongRecordings(t, text, version)
}

// noticed shows that another answer is told: one with a seed, and one about a policy with another effect.
func (p project) noticed(t *testing.T, of table, readings []*verdict.Reading, protocol int, recorded [][]json.RawMessage) {
	t.Helper()
	for _, s := range of.seeds {
		at, found := slices.BinarySearch(of.policies, s.policy)
		if !found || readings[at] == nil || recorded[at] == nil {
			t.Errorf("the seed has no policy that both take: %s", s.policy)
			continue
		}
		answers := slices.Clone(recorded[at])
		answers[s.inbound] = bytes.Replace(answers[s.inbound], []byte(s.old), []byte(s.new), 1)
		if _, err := plugin.ReadAnswer(protocol, answers[s.inbound], of.mesh.Inbounds[s.inbound].Inbound); err != nil || bytes.Equal(answers[s.inbound], recorded[at][s.inbound]) {
			t.Errorf("%s: %s makes no other answer of %s: %v", s.policy, s.old, answers[s.inbound], err)
		} else if differs, unread := p.apart(readings[at], protocol, answers); differs+unread == "" {
			t.Errorf("%s: %s instead of %s is not noticed", s.policy, s.new, s.old)
		}
	}
	seen := map[*json.RawMessage]bool{}
	var firsts []int // the first policy of each effect
	for at, answers := range recorded {
		if answers != nil && readings[at] != nil && !seen[&answers[0]] {
			seen[&answers[0]] = true
			firsts = append(firsts, at)
		}
	}
	for i, at := range firsts {
		if !of.distinct {
			break
		}
		next := firsts[(i+1)%len(firsts)]
		if differs, _ := p.apart(readings[at], protocol, recorded[next]); differs == "" {
			t.Errorf("the answers about %.300s\n\tare taken for those about %.300s", of.policies[next], of.policies[at])
		}
	}
	if len(firsts) < 20 {
		t.Fatalf("the policies have %d effects", len(firsts))
	}
	if differs, _ := p.apart(readings[firsts[0]], protocol, nil); differs == "" {
		t.Error("an answer that is missing is not noticed")
	}
}

// wrongRecordings shows that no recording is read that is about something else, or not whole.
func (t table) wrongRecordings(test *testing.T, text []byte, version string) {
	test.Helper()
	head, lines, _ := bytes.Cut(text, []byte("\n"))
	first, rest, _ := bytes.Cut(lines, []byte("\n"))
	other := t
	other.meshText += " "
	for name, wrong := range map[string]struct {
		table   table
		version string
		text    [][]byte
		want    error
	}{
		"of another version":    {t, version + "0", [][]byte{text}, errOtherVersion},
		"about another mesh":    {other, version, [][]byte{text}, errOtherAsked},
		"two effects":           {t, version, [][]byte{text, first}, errTwice},
		"too few answers":       {t, version, [][]byte{head, []byte(`{"answers": [], "policies": [0]}`)}, errAnswers},
		"a place that is not":   {t, version, [][]byte{head, bytes.Replace(first, []byte(`"policies":[`), []byte(`"policies":[-1,`), 1)}, errOtherAsked},
		"the whole (not wrong)": {t, version, [][]byte{text}, nil},
	} {
		if _, _, err := wrong.table.readEffects(bytes.Join(wrong.text, []byte("\n")), wrong.version); !errors.Is(err, wrong.want) {
			test.Errorf("%s: got %v, want %v", name, err, wrong.want)
		}
	}
	protocol, recorded, err := t.readEffects(bytes.Join([][]byte{head, rest}, []byte("\n")), version)
	if err != nil {
		test.Fatal(err)
	}
	var e effect
	if err := json.Unmarshal(first, &e); err != nil || protocol == 0 || recorded[e.Policies[0]] != nil {
		test.Errorf("a line that is missing: %v, %s", err, recorded[e.Policies[0]])
	}
}
