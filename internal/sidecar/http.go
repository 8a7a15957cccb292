package sidecar

import (
	"fmt"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
)

// http reads an HTTP connection manager and its filters.
func (c *chain) http(name string, m *hcmv3.HttpConnectionManager) {
	c.in.Protocol = policy.HTTP
	switch m.CodecType {
	case hcmv3.HttpConnectionManager_HTTP2:
		c.in.Protocol = policy.HTTP2
	case hcmv3.HttpConnectionManager_HTTP3:
		c.tell(Beside, name, "", "it speaks HTTP/3, which the lab does not")
	}
	c.in.StatPrefix = m.StatPrefix
	c.in.ForwardClientCert = m.ForwardClientCertDetails
	c.in.UseRemoteAddress = m.GetUseRemoteAddress().GetValue()
	c.in.Normalization = policy.PathNormalization{
		Raw:            !m.GetNormalizePath().GetValue(),
		KeepSlashes:    !m.MergeSlashes,
		EscapedSlashes: policy.KeepEscapedSlashes,
	}
	switch m.PathWithEscapedSlashesAction {
	case hcmv3.HttpConnectionManager_REJECT_REQUEST:
		c.in.Normalization.EscapedSlashes = policy.RejectEscapedSlashes
	case hcmv3.HttpConnectionManager_UNESCAPE_AND_FORWARD:
		c.in.Normalization.EscapedSlashes = policy.UnescapeSlashes
	case hcmv3.HttpConnectionManager_UNESCAPE_AND_REDIRECT:
		c.in.Normalization.EscapedSlashes = policy.UnescapeSlashes
		c.tell(Beside, name, "", "path_with_escaped_slashes_action UNESCAPE_AND_REDIRECT: a path with escaped slashes is redirected, taken for forwarded")
	}
	c.settings(name, m)
	for _, f := range m.HttpFilters {
		c.httpFilter(m.StatPrefix, f)
	}
	c.routes(m)
}

// settings reads the settings that change what the filters see or how a refusal looks.
func (c *chain) settings(name string, m *hcmv3.HttpConnectionManager) {
	for _, s := range []struct {
		set  bool
		name string
	}{
		{m.PathNormalizationOptions != nil, "path_normalization_options"},
		{m.XffNumTrustedHops > 0, "xff_num_trusted_hops"},
		{len(m.OriginalIpDetectionExtensions) > 0, "original_ip_detection_extensions"},
		{len(m.EarlyHeaderMutationExtensions) > 0, "early_header_mutation_extensions"},
		{m.ForwardClientCertMatcher != nil, "forward_client_cert_matcher"},
		{m.LocalReplyConfig != nil, "local_reply_config"},
		{m.StripMatchingHostPort || m.GetStripAnyHostPort(), "strip_host_port"},
		{m.StripTrailingHostDot, "strip_trailing_host_dot"},
		{m.TypedHeaderValidationConfig != nil, "typed_header_validation_config"},
	} {
		if s.set {
			c.tell(Beside, name, "", s.name+" is set: it changes what filters see of a request, or how a refusal looks")
		}
	}
	for _, u := range m.UpgradeConfigs {
		if len(u.Filters) > 0 {
			c.tell(Lost, name, "", fmt.Sprintf("requests that upgrade to %q pass other filters", u.UpgradeType))
		}
	}
}

func (c *chain) httpFilter(statPrefix string, f *hcmv3.HttpFilter) {
	packed, faults, typeURL, reason := c.extension(f.Name, f.GetTypedConfig(), f.GetConfigDiscovery())
	if reason != "" {
		c.replaceable = append(c.replaceable, f.Name)
		c.noteFilter(Lost, f.Name, typeURL, reason)
		return
	}
	c.tellFaults(f.Name, faults)
	m, _, err := messages.Unpack(packed)
	rbac, ok := m.(*httprbacv3.RBAC)
	if ok && isObserver(f.Name, rbac) {
		return
	}
	if ok || messages.Name(messages.TypeURL(packed)) == httpRBAC {
		c.replaceable = append(c.replaceable, f.Name)
	}
	switch {
	case !ok:
		c.noteOther(f.Name, messages.TypeURL(packed), err)
	case f.Disabled:
		c.disabled = true
		c.noteFilter(Beside, f.Name, packed.TypeUrl, "an RBAC filter that is disabled: it judges only where a route enables it")
	default:
		c.addHTTP(f.Name, statPrefix, rbac)
	}
}
