package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestTable holds the table of docs/attributes.md against the rows: which match of which
// attribute each form can ask for, and by which message. Package harness asks Envoy for each
// of the matches.
func TestTable(t *testing.T) {
	t.Parallel()
	golden.Section(t, "../../docs/attributes.md", "table", table())
}

func table() string {
	var b strings.Builder
	b.WriteString("| attribute | layer | ordered rules ask for | by the input | named rules ask for | by | since |\n|---|---|---|---|---|---|---|\n")
	all := attribute.All()
	slices.SortStableFunc(all, func(a, b *policy.Attribute) int { return cmp.Compare(a.Layer, b.Layer) })
	for _, a := range all {
		r := rowOf(a)
		name := a.Name
		if a.Family != "" {
			name = a.Family + " (one for each name)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", name, a.Layer,
			sayable(a, policy.Ordered), inputName(a, r), sayable(a, policy.Named), ruleNames(a, r), r.since)
	}
	return b.String()
}

// sayable are the kinds of matches that a form can ask for.
func sayable(a *policy.Attribute, form policy.Form) string {
	var kinds []string
	for _, kind := range a.Kinds {
		gate := policy.Gate{Layer: a.Layer, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}, When: policy.Is{Attribute: a, Match: programtest.Match(a, kind)}}}}
		if (policy.Program{Gates: []policy.Gate{gate}}).Check() != nil {
			continue
		}
		var err error
		if form == policy.Ordered {
			_, err = Ordered(gate)
		} else {
			_, err = Named(gate)
		}
		if err == nil {
			kinds = append(kinds, kind.String())
		}
	}
	if len(kinds) == 0 {
		return "nothing"
	}
	return strings.Join(kinds, ", ")
}

// inputName is the message of the first input that a matcher of the attribute looks at.
func inputName(a *policy.Attribute, r *row) string {
	if r.predicate == nil {
		return ""
	}
	var found string
	var visit func(p *predicateProto)
	visit = func(p *predicateProto) {
		switch p := p.GetMatchType().(type) {
		case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_:
			found = cmp.Or(found, string(p.SinglePredicate.GetInput().GetTypedConfig().MessageName().Name()))
		case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
			visit(p.OrMatcher.GetPredicate()[0])
		case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
			visit(p.AndMatcher.GetPredicate()[0])
		}
	}
	visit(r.predicate(programtest.Match(a, a.Kinds[0])))
	return found
}

// ruleNames are the fields of a principal and a permission that ask for the attribute.
func ruleNames(a *policy.Attribute, r *row) string {
	var out []string
	names := func(what string, ask func(policy.Match) proto.Message, oneof protoreflect.Name) {
		var fields []string
		for _, kind := range a.Kinds {
			m := ask(programtest.Match(a, kind)).ProtoReflect()
			if field := m.WhichOneof(m.Descriptor().Oneofs().ByName(oneof)); field != nil && !slices.Contains(fields, string(field.Name())) {
				fields = append(fields, string(field.Name()))
			}
		}
		out = append(out, what+" "+strings.Join(fields, ", "))
	}
	if r.principal != nil {
		names("principal", func(m policy.Match) proto.Message { return r.principal(m) }, "identifier")
	}
	if r.permission != nil {
		names("permission", func(m policy.Match) proto.Message { return r.permission(m) }, "rule")
	}
	return strings.Join(out, "; ")
}
