package lift

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
)

// header compares a header of the request. A connection has none, and Envoy refuses a
// network filter that asks for one.
func (t *translator) header(name string, of text, at *messages.Path) term {
	name = strings.ToLower(name)
	shown := rbac.ShownByHeader(name)
	switch {
	case t.layer == policy.L4:
		return term{reading: t.unsaid(at, "it asks for a header of a connection: Envoy refuses it")}
	case shown == nil:
		return term{reading: t.unsaid(at, fmt.Sprintf("no policy can ask for the header %q", name))}
	default:
		return t.attribute(shown, of, at)
	}
}

// headerMatcher reads an envoy.config.route.v3.HeaderMatcher.
func (t *translator) headerMatcher(h *routev3.HeaderMatcher, at *messages.Path) term {
	out := t.header(h.GetName(), headerText(h), at)
	if !h.GetInvertMatch() {
		return out
	}
	return term{reading: negated(t.anyTerm([]term{out}))}
}

func headerText(h *routev3.HeaderMatcher) text {
	switch of := h.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_StringMatch:
		return textOf(of.StringMatch)
	case *routev3.HeaderMatcher_PresentMatch:
		if !of.PresentMatch {
			return text{}
		}
		return text{alternatives: []alternative{beginning("")}}
	case nil:
		return text{alternatives: []alternative{beginning("")}}
	default:
		return text{reason: unknownMember(h, "header_match_specifier")}
	}
}
