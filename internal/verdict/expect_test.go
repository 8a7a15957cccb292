package verdict

import (
	"errors"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy/manifest"
)

// What is expected of each request of the built-in cases is what the case wants, in hand
// written words. A status other than 403 is Envoy's own answer, which no policy foretells.
func TestExpectationsOfTheStories(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	met := map[cases.Want]int{}
	for _, c := range all {
		if c.ExpectError != "" {
			continue
		}
		r, err := Read(c)
		if err != nil {
			t.Fatalf("%s: %v", c.Place, err)
		}
		if !c.Gate.Admits("1.40.0") {
			r = r.On("1.36.4")
		}
		for _, q := range c.Requests {
			want := Want(r.Inbound(q.To).Expect(q))
			met[want]++
			status, answered := q.Want.Status()
			if want == q.Want || want == cases.Deny && (q.Want == cases.Close || status == 403) ||
				want != cases.HandshakeFailure && answered && status != 403 {
				continue
			}
			t.Errorf("%s: %s %s as %s: expected is %s, the case wants %s", q.Place, q.Method, q.Path, q.From.Name, want, q.Want)
		}
	}
	for _, want := range []cases.Want{cases.Allow, cases.Deny, cases.HandshakeFailure, cases.Status(400)} {
		if met[want] < 10 {
			t.Errorf("%s is expected of %d requests", want, met[want])
		}
	}
}

// A memo reads the policies of a case once, whatever the outcome, and tells policies that
// are refused as a whole from policies that one inbound refuses.
func TestMemo(t *testing.T) {
	t.Parallel()
	good, bad := parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]\n"), parse(t, head+"expectError: x\n")
	bad.Name, bad.Policies = "bad", []manifest.Document{{}}
	var memo Memo
	first, err := memo.Read(good)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := memo.Read(good); again != first || err != nil {
		t.Errorf("read again: %v", err)
	}
	_, refused := memo.Read(bad)
	if _, again := memo.Read(bad); refused == nil || again != refused || errors.As(refused, new(*InboundError)) {
		t.Errorf("refused: %v, then %v", refused, again)
	}
}
