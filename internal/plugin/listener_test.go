package plugin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
)

const (
	shadow = `{"shadowRules": {"action": "DENY", "policies": {"istio-ext-authz-opa-a": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}, "shadowRulesStatPrefix": "p_"}`
	asks   = `{"@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", "grpcService": {"envoyGrpc": {"clusterName": "opa"}, "timeout": "1s"}, "transportApiVersion": "V3", MORE` +
		`"filterEnabledMetadata": {"filter": "envoy.filters.http.rbac", "path": [{"key": "p_shadow_effective_policy_id"}], "value": {"stringMatch": {"prefix": "istio-ext-authz-opa"}}}}`
)

// TestAsks reads the filter that asks an authorizer, behind the filter whose shadow says what about.
// A filter that the lab cannot stand for is no failure of the compiler, and no refusal.
func TestAsks(t *testing.T) {
	t.Parallel()
	plain, in := strings.Replace(asks, "MORE", "", 1), backend
	in.Protocol, in.Routes = policy.HTTP, nil
	for name, tt := range map[string]struct {
		version int
		http    string
		want    authorizer.Authorizer
		err     string
		unread  bool
	}{
		"closed":        {2, shadow + "," + plain, authorizer.Authorizer{Provider: "opa", Cluster: "opa", Timeout: time.Second}, "", false},
		"open":          {2, shadow + "," + strings.Replace(asks, "MORE", `"failureModeAllow": true,`, 1), authorizer.Authorizer{Provider: "opa", Cluster: "opa", Timeout: time.Second, FailOpen: true}, "", false},
		"with a status": {2, shadow + "," + strings.Replace(asks, "MORE", `"statusOnError": {"code": "ServiceUnavailable"},`, 1), authorizer.Authorizer{Provider: "opa", Cluster: "opa", Timeout: time.Second, StatusOnError: 503}, "", false},
		"in version 1":  {1, shadow + "," + plain, authorizer.Authorizer{}, `unknown field "@type"`, false},
		"in front":      {2, plain + "," + shadow, authorizer.Authorizer{}, "want one envoy.extensions.filters.http.ext_authz.v3.ExtAuthz behind an RBAC filter", false},
		"twice":         {2, shadow + "," + plain + "," + plain, authorizer.Authorizer{}, "want one", false},
		"another type":  {2, shadow + `, {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"}`, authorizer.Authorizer{}, "an RBAC filter itself has no @type", false},
		"a rule of another shadow": {2, strings.Replace(shadow, `"p_"`, `"q_"`, 1) + "," + plain, authorizer.Authorizer{},
			"filter_enabled_metadata", true},
		"for all requests": {2, shadow + "," + plain[:strings.Index(plain, `, "filterEnabled`)] + "}", authorizer.Authorizer{}, "filter_enabled_metadata", true},
		"by HTTP": {2, shadow + "," + strings.Replace(plain, `"grpcService": {"envoyGrpc": {"clusterName": "opa"}, "timeout": "1s"}`, `"httpService": {"serverUri": {"uri": "http://a", "cluster": "a", "timeout": "1s"}}`, 1),
			authorizer.Authorizer{}, "http_service is not read", true},
		"without its answer": {2, shadow + "," + strings.Replace(asks, "MORE", `"filterEnabled": {"defaultValue": {"numerator": 1}},`, 1), authorizer.Authorizer{}, "filter_enabled is not read", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filters, err := ReadAnswer(tt.version, fmt.Appendf(nil, `{"filters": {"http": [%s]}}`, tt.http), in)
			unread := interface{ Unread() bool }(nil)
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) || errors.As(err, &unread) != tt.unread || errors.Is(err, ErrAnswer) == tt.unread {
					t.Errorf("got %v, want %s", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case len(filters.HTTP) != 1 || len(filters.HTTPAsks) != 1 || filters.HTTPAsks[0] != tt.want:
				t.Errorf("got %+v, want %+v", filters.HTTPAsks, tt.want)
			}
		})
	}
}

// TestListener reads what an answer says of the listener.
func TestListener(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protocol      policy.Protocol
		filters       string
		mtls          mtls.Mode
		normalization *policy.PathNormalization
		err           string
	}{
		"nothing":    {policy.HTTP, `{}`, mtls.Unset, nil, ""},
		"a mode":     {policy.TCP, `{"mtls": "permissive"}`, mtls.Permissive, nil, ""},
		"a bad mode": {policy.TCP, `{"mtls": "PERMISSIVE"}`, 0, nil, `"PERMISSIVE" is unknown`},
		"no mode":    {policy.TCP, `{"mtls": ""}`, 0, nil, "mtls is empty"},
		"paths": {policy.HTTP, `{"paths": {"normalizePath": true, "pathWithEscapedSlashesAction": "UNESCAPE_AND_FORWARD"}}`, mtls.Unset,
			&policy.PathNormalization{KeepSlashes: true, EscapedSlashes: policy.UnescapeSlashes}, ""},
		"a redirect":    {policy.HTTP, `{"paths": {"pathWithEscapedSlashesAction": "UNESCAPE_AND_REDIRECT"}}`, 0, nil, "no redirect"},
		"another field": {policy.HTTP, `{"paths": {"statPrefix": "x"}}`, 0, nil, "stat_prefix is not read"},
		"paths on tcp":  {policy.TCP, `{"paths": {}}`, 0, nil, "a tcp inbound reads no paths"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := backend
			in.Protocol, in.Routes = tt.protocol, nil
			got, err := ReadAnswer(2, fmt.Appendf(nil, `{"filters": %s}`, tt.filters), in)
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case got.MTLS != tt.mtls || (got.Normalization == nil) != (tt.normalization == nil) || tt.normalization != nil && *got.Normalization != *tt.normalization:
				t.Errorf("got %v and %+v", got.MTLS, got.Normalization)
			}
		})
	}
}
