package peer_test

import (
	"fmt"
	"strings"
	"testing"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/internal/peer"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// asking returns the filters that ask for an attribute in every place, and how often they do.
func asking(t *testing.T, a *policy.Attribute) (f xds.Filters, questions int) {
	t.Helper()
	block := policy.Is{Attribute: a, Match: policy.Match{Kind: policy.CIDR, Value: "10.0.0.0/8"}}
	when := policy.Or{policy.And{block, policy.Not{Condition: a.Exact("10.0.0.7")}}, a.Exact("2001:db8::7")}
	var p policy.Program
	for _, layer := range []policy.Layer{policy.L4, policy.L7} {
		for _, form := range []policy.Form{policy.Ordered, policy.Named} {
			gate := policy.Gate{Layer: layer, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: when}}}
			p.Gates = append(p.Gates, gate)
			gate.Name, gate.Preceding = fmt.Sprint(layer, form), len(p.Gates)-1
			p.Shadows = append(p.Shadows, gate)
			questions += 2 * 3
		}
	}
	p.Routes = []policy.Route{{Name: "r", When: attribute.Path.Exact("/a"), Gates: p.Gates[2:3]}}
	f, err := xds.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return f, questions + 3
}

// TestPlay asks for the remote address in every place where the peer was asked for, and changes
// nothing else. The name of an input is for people.
func TestPlay(t *testing.T) {
	t.Parallel()
	byPeer, want := asking(t, attribute.SourceAddress)
	byRemote, _ := asking(t, attribute.RemoteAddress)
	before := fmt.Sprint(byPeer.Messages())
	played, questions, err := peer.Play(byPeer, false)
	if diff := cmp.Diff(byRemote.Messages(), played.Messages(), protocmp.Transform(), protocmp.IgnoreFields(&xdscorev3.TypedExtensionConfig{}, "name")); diff != "" || questions != want || err != nil {
		t.Errorf("%v, %d questions, want %d (-want +got):\n%s", err, questions, want, diff)
	}
	if after := fmt.Sprint(byPeer.Messages()); before != after {
		t.Error("the given filters were changed")
	}
	if note := peer.Note("backend/http", byPeer, false); !strings.HasPrefix(note, "backend/http: the lab asks ") || !strings.Contains(note, fmt.Sprintf("which is %d times", want)) {
		t.Errorf("note %q", note)
	}
	same, questions, _ := peer.Play(byRemote, false)
	if questions != 0 || same.Network[0] != byRemote.Network[0] || peer.Note("backend/http", byRemote, false) != "" {
		t.Errorf("%d questions for the peer in filters without any", questions)
	}
}
