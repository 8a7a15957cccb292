package explanation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// addTrust says beside the decision what mTLS makes of a caller that no case names. Policies
// decide about every caller, and files need not say which trust domains their mesh has. So the
// decision stays.
func (e *Explanation) addTrust(s lab.Subject, program language.Program, q cases.Request) {
	td := ""
	if len(q.From.Template.URIs) > 0 {
		td = verdict.TrustDomainOf(q.From.Template.URIs[0])
	}
	from := q.From
	if td != "" {
		from.SignedBy = spiffeid.RequireTrustDomainFromString(td)
	}
	trusted := s.TrustDomains
	if of, ok := s.Set.(capability.MeshTruster); ok && s.Case == "" && of.TrustsMesh(s.Inbound.Inbound) {
		if mesh, err := spiffeid.TrustDomainFromString(s.Inbound.Workload.Mesh); err == nil {
			trusted = append(trusted[:len(trusted):len(trusted)], mesh)
		}
	}
	e.MTLS = verdict.KeepsOut(s.Inbound, trusted, from)
	if e.MTLS != "" && verdict.KeepsOut(s.Inbound, append(trusted[:len(trusted):len(trusted)], from.SignedBy), from) == "" {
		e.MTLS += ": " + trustBy(s, td)
	}
	if seen, err := verdict.See(s.Inbound, s.Normalization, program.Tokens, q); err == nil && td != "" {
		e.Hint = hintOfDomain(program, seen, td)
	}
}

// trustBy says where a mesh that trusts the trust domain is stated.
func trustBy(s lab.Subject, td string) string {
	if s.Case != "" {
		return fmt.Sprintf("add %s to trustDomains of the case if the mesh trusts it", td)
	}
	return fmt.Sprintf("write --trust-domain %s if it is that of the mesh", td)
}

const scheme = "spiffe://"

// hintOfDomain says that the rules are about callers of another trust domain, where that alone
// makes the decision another one. It is "" where a rule is about the caller's own.
func hintOfDomain(program language.Program, seen policy.Request, own string) string {
	named := verdict.TrustDomains(program.Program)
	decided := policy.Decide(program.Program, seen).Effect
	for _, td := range named {
		if slices.Contains(named, own) {
			return ""
		}
		other := seen
		other.URIs = slices.Clone(seen.URIs)
		other.URIs[0] = scheme + td + strings.TrimPrefix(seen.URIs[0], scheme+own)
		if of := policy.Decide(program.Program, other); of.Effect != decided {
			return fmt.Sprintf("no rule is about the trust domain %q; about %s the policies decide: %s", own, other.URIs[0], of.Verdict)
		}
	}
	return ""
}

// hintOfName says of a caller by the name of its Dataplane that all rules are about other trust domains than the identity
// that a Dataplane is taken to have: in its mesh it may have another one.
func hintOfName(program language.Program, from cases.Caller) string {
	identity := from.Template.URIs[0]
	named := verdict.TrustDomains(program.Program)
	if len(named) == 0 || slices.Contains(named, verdict.TrustDomainOf(identity)) {
		return ""
	}
	return fmt.Sprintf("%s is taken for %s, and all rules are about callers of %s: state the SPIFFE ID of its certificate by --from", from.Name, identity, strings.Join(named, ", "))
}
