package verdict

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

// fixedPolicies come to one program on every inbound.
type fixedPolicies struct {
	language.Policies
	program language.Program
}

func (f fixedPolicies) Check(policy.Inbound) error              { return nil }
func (f fixedPolicies) Program(policy.Inbound) language.Program { return f.program }
func (f fixedPolicies) Evaluate(policy.Inbound) func(policy.Request) policy.Decision {
	return func(r policy.Request) policy.Decision { return policy.Decide(f.program.Program, r) }
}

// TestTokens holds what becomes of tokens before the policies are asked.
func TestTokens(t *testing.T) {
	t.Parallel()
	td := spiffeid.RequireTrustDomainFromString("td")
	allowed := policy.Gate{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "alice"}, When: attribute.Claim("sub").Exact("alice")},
	}}
	program := language.Program{
		Program: policy.Program{Gates: []policy.Gate{allowed}},
		Tokens:  token.Demand{Issuers: []token.Issuer{{Name: "a", Audiences: []string{"api"}}}},
	}
	closed := program
	closed.Gates = []policy.Gate{{Default: policy.Verdict{Origin: "nobody"}}, allowed}
	claims := func(aud string) map[string]any {
		return map[string]any{"iss": "a", "sub": "alice", "aud": aud}
	}
	from := cases.Caller{Name: "web", Template: certs.Template{URIs: []string{"spiffe://td/web"}}, SignedBy: td}
	for name, tt := range map[string]struct {
		program  language.Program
		protocol policy.Protocol
		request  cases.Request
		want     cases.Want
	}{
		"no token":               {program, policy.HTTP, cases.Request{}, cases.Deny},
		"a sound token":          {program, policy.HTTP, cases.Request{Token: &token.Token{Claims: claims("api")}}, cases.Allow},
		"over gRPC":              {program, policy.GRPC, cases.Request{Token: &token.Token{Claims: claims("api")}, GRPC: "a.B/C"}, cases.Allow},
		"an expired token":       {program, policy.HTTP, cases.Request{Token: &token.Token{Claims: claims("api"), Fault: token.Expired}}, cases.Status(401)},
		"another audience":       {program, policy.HTTP, cases.Request{Token: &token.Token{Claims: claims("web")}}, cases.Refused},
		"a token by hand":        {program, policy.HTTP, cases.Request{Headers: []policy.Header{{Name: "Authorization", Value: "Bearer x"}}}, cases.Status(401)},
		"another scheme":         {program, policy.HTTP, cases.Request{Headers: []policy.Header{{Name: "Authorization", Value: "Basic x"}}}, cases.Deny},
		"a bad path":             {program, policy.HTTP, cases.Request{Path: "/%00", Token: &token.Token{Claims: claims("api"), Fault: token.Expired}}, cases.Status(400)},
		"refused before":         {closed, policy.HTTP, cases.Request{Token: &token.Token{Claims: claims("api"), Fault: token.Expired}}, cases.Deny},
		"no filter reads tokens": {language.Program{Program: program.Program}, policy.HTTP, cases.Request{Token: &token.Token{Claims: claims("api")}}, cases.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := cases.Inbound{Inbound: policy.Inbound{Workload: policy.Workload{Name: "w"}, Port: 80, Protocol: tt.protocol}}
			reading, err := read(cases.Case{Name: "x", TrustDomains: []spiffeid.TrustDomain{td}, Inbounds: []cases.Inbound{in}}, fixedPolicies{program: tt.program}, (*Reading).settleListeners)
			if err != nil {
				t.Fatal(err)
			}
			q := tt.request
			q.From, q.To, q.Want = from, in.String(), tt.want
			if got := Want(reading.Inbounds()[0].Expect(q)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if why := reading.Inbounds()[0].Contradiction(q); why != "" {
				t.Error(why)
			}
		})
	}
}
