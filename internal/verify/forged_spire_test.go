package verify

import (
	"fmt"
	"strings"
	"testing"
)

// spireSource asks the agent of SPIRE, as Kuma has it for a MeshIdentity with the provider Spire.
const spireSource = `{"api_config_source": {"api_type": "GRPC", "transport_api_version": "V3", "grpc_services": [{"envoy_grpc": {"cluster_name": "system_identity_sds-spire-agent"}}]}, "resource_api_version": "V3"}`

// bySPIRE gives both inbounds their CAs by a secret of SPIRE's agent on a socket.
func bySPIRE(source, name, socket, context string) edit {
	return func(dump any) any {
		for _, chain := range []string{chain, tcpChain} {
			const of = ".transport_socket.typed_config.common_tls_context.combined_validation_context"
			dump = put(chain+of, fmt.Sprintf(`{"default_validation_context": {}, "validation_context_sds_secret_config": {"name": %q, "sds_config": %s}}`, name, source))(dump)
		}
		dump = add("configs", fmt.Sprintf(`{"@type": "T/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{"name": %q, "secret": {"name": %q, "validation_context": %s}}]}`, name, name, context))(dump)
		return clusters(ownCluster, redis, otherRedis, having(socketOf("system_identity_sds-spire-agent", socket), `"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {}}}}`))(dump)
	}
}

// TestForgedSPIRE reads dumps of a Kuma sidecar whose CAs are those of SPIRE's agent.
func TestForgedSPIRE(t *testing.T) {
	t.Parallel()
	const socket, all = "/tmp/spire-agent/public/api.sock", "ALL"
	context := spiffe(ownDomain)
	calling := func(source, name string) edit {
		return put("configs.2.static_clusters.2.cluster", having(static("kri_msvc_default_zone-1_ns-1_redis_6379", "10.0.0.7", 6379), strings.NewReplacer("system_trust_bundle", name, `{"ads": {}}`, source).Replace(meshTLS(""))))
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"the CAs of its agent":         {verified, []edit{bySPIRE(spireSource, all, socket, context)}},
		"those of the federation, too": {verified, []edit{bySPIRE(spireSource, all, socket, spiffe(ownDomain+`, {"name": "other.example", "trust_bundle": {"inline_string": "x"}}`))}},
		"those of another trust domain, of which no filter lets anybody in":            {verified, []edit{bySPIRE(spireSource, all, socket, spiffe(`{"name": "other.example", "trust_bundle": {"inline_string": "x"}}`))}},
		"CAs without a validator of SPIFFE":                                            {unverified, []edit{bySPIRE(spireSource, all, socket, `{"trusted_ca": {"inline_string": "x"}}`)}},
		"an empty field for CAs beside, as SPIRE writes it":                            {verified, []edit{bySPIRE(spireSource, all, socket, having(context, `"trusted_ca": {}`))}},
		"an empty text for CAs beside":                                                 {verified, []edit{bySPIRE(spireSource, all, socket, having(context, `"trusted_ca": {"inline_bytes": ""}`))}},
		"CAs of a file beside":                                                         {unverified, []edit{bySPIRE(spireSource, all, socket, having(context, `"trusted_ca": {"filename": "/x"}`))}},
		"a folder for CAs beside":                                                      {unverified, []edit{bySPIRE(spireSource, all, socket, having(context, `"trusted_ca": {"watched_directory": {"path": "/x"}}`))}},
		"an empty field for CAs, and no others":                                        {unverified, []edit{bySPIRE(spireSource, all, socket, `{"trusted_ca": {}}`)}},
		"an empty field beside a configuration that the default validator passes over": {unverified, []edit{bySPIRE(spireSource, all, socket, having(validator("envoy.tls.cert_validator.default"), `"trusted_ca": {}`))}},
		"the secret of Istio's mesh, with such a field":                                {verified, []edit{bundle(having(spiffe(ownDomain), `"trusted_ca": {}`))}},
		"outbound to its own service over mTLS":                                        {verified, []edit{bySPIRE(spireSource, all, socket, context), calling(spireSource, all)}},
		"outbound to its own service over mTLS by another secret":                      {unverified, []edit{bySPIRE(spireSource, all, socket, context), calling(spireSource, "other")}},
		"outbound to its own service over mTLS by another server":                      {unverified, []edit{bySPIRE(spireSource, all, socket, context), calling(strings.Replace(spireSource, "spire-agent", "other", 1), all)}},
		"outbound to its own service by the agent over the network":                    {unverified, []edit{bySPIRE(spireSource, all, socket, context), calling(spireSource, all), put("configs.2.static_clusters.3.cluster", static("system_identity_sds-spire-agent", "10.9.9.9", 8081))}},
		"no CAs":                          {unverified, []edit{bySPIRE(spireSource, all, socket, `{}`)}},
		"another secret of its agent":     {unverified, []edit{bySPIRE(spireSource, "system_trust_bundle", socket, context)}},
		"its secret of the control plane": {unverified, []edit{bySPIRE(`{"ads": {}}`, all, socket, context)}},
		"its secret of another server":    {unverified, []edit{bySPIRE(`{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "self_inbound_dp_http-port"}}]}}`, all, socket, context)}},
		"a socket without a file":         {unverified, []edit{bySPIRE(spireSource, all, "@spire", context)}},
		"a socket of this Envoy":          {unverified, []edit{bySPIRE(spireSource, all, socket, context), leading(put("address", `{"pipe": {"path": "/run/api.sock"}}`))}},
		"an agent over the network":       {unverified, []edit{bySPIRE(spireSource, all, socket, context), put("configs.2.static_clusters.3.cluster", static("system_identity_sds-spire-agent", "10.9.9.9", 8081))}},
		"SANs of another trust domain":    {unverified, []edit{bySPIRE(spireSource, all, socket, context), put(sans, `[{"san_type": "DNS", "matcher": {"prefix": ""}}]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
