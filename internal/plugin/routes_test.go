package plugin

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// TestRoutesOfPolicies reads routes with a match, which no route of the inbound has. A match that the
// lab cannot play is not verified; it is neither a failure of the compiler nor a refusal.
func TestRoutesOfPolicies(t *testing.T) {
	t.Parallel()
	const header = `{"name": "b", "rbac": [], "match": {"prefix": "/", "headers": [{"name": "x-role", "stringMatch": {"exact": "admin"}}]}}`
	http, tcp := backend, backend
	http.Protocol, tcp.Protocol, tcp.Routes = policy.HTTP, policy.TCP, nil
	for name, tt := range map[string]struct {
		version int
		inbound policy.Inbound
		filters string
		routes  int
		only    bool
		err     string
		unread  bool
	}{
		"in their order":      {2, http, `"http": [{}], "routes": [{"name": "a", "rbac": {}, "match": {"path": "/a"}}, ` + header + `]`, 2, false, "", false},
		"without others":      {2, http, `"http": [{}], "routesOnly": true, "routes": [` + header + `]`, 1, true, "", false},
		"none at all":         {2, http, `"routesOnly": true`, 0, true, "", false},
		"twice":               {2, http, `"http": [{}], "routes": [` + header + "," + header + `]`, 2, false, "", false},
		"some with a match":   {2, http, `"http": [{}], "routes": [` + header + `, {"name": "orders", "rbac": {}}]`, 0, false, "some routes have a match and others have none", false},
		"only without match":  {2, http, `"http": [{}], "routesOnly": true, "routes": [{"name": "orders", "rbac": {}}]`, 0, false, "some routes have a match and others have none", false},
		"too many filters":    {2, http, `"routes": [{"name": "a", "rbac": {}, "match": {"path": "/a"}}]`, 0, false, "filters.routes[0].rbac: filters.http has 0 filters, want at most as many, not 1", false},
		"by a cookie":         {2, http, `"routes": [{"name": "a", "rbac": [], "match": {"path": "/a", "cookies": [{"name": "x", "stringMatch": {"exact": "a"}}]}}]`, 0, false, "filters.routes[0].match: the lab cannot tell a route by this match", true},
		"by chance":           {2, http, `"routes": [{"name": "a", "rbac": [], "match": {"path": "/a", "runtimeFraction": {"defaultValue": {"numerator": 1}}}}]`, 0, false, "filters.routes[0].match: the lab cannot tell a route by this match", true},
		"no path":             {2, http, `"routes": [{"name": "a", "rbac": [], "match": {}}]`, 0, false, "filters.routes[0]: match: envoy.config.route.v3.RouteMatch: invalid", false},
		"no truth value":      {2, http, `"routesOnly": 1`, 0, false, "filters.routesOnly: want true or false", false},
		"on tcp":              {2, tcp, `"routesOnly": true`, 0, false, "a tcp inbound takes network filters only", false},
		"match in version 1":  {1, http, `"http": [{}], "routes": [` + header + `]`, 0, false, `unknown field "match"`, false},
		"only in version 1":   {1, http, `"routesOnly": true`, 0, false, `unknown field "routesOnly"`, false},
		"a route of no match": {2, http, `"http": [{}], "routes": [{"name": "gone", "rbac": {}}]`, 0, false, `the inbound has no route "gone"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := `{"id": 1, "filters": {` + tt.filters + `}}`
			got, err := ReadAnswer(tt.version, []byte(text), tt.inbound)
			var unread *unreadError
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) || errors.As(err, &unread) != tt.unread || errors.Is(err, ErrAnswer) == tt.unread {
					t.Errorf("got %v, want %s", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case len(got.Routes) != tt.routes || got.RoutesOnly != tt.only:
				t.Errorf("%d routes, no others: %t", len(got.Routes), got.RoutesOnly)
			default:
				validate(t, schema(t, "answer"), []byte(text))
			}
		})
	}
}
