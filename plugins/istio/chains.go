package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	listenerpb "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	httpauthz "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	jwtauthn "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkauthz "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// readChains returns what the filter chains of an inbound say: one for callers with mTLS, and one for
// callers in plaintext. Both have to say the same.
func readChains(chains []*listenerpb.FilterChain) (filters, error) {
	var out filters
	var first []byte
	var secure, plain bool
	for _, chain := range chains {
		if chain.GetTransportSocket() != nil {
			secure = true
		} else if of := chain.GetFilterChainMatch().GetTransportProtocol(); of == "" || of == "raw_buffer" {
			plain = true
		}
		read, err := readChain(chain)
		if err != nil {
			return filters{}, err
		}
		text, err := json.Marshal(read)
		if err != nil {
			return filters{}, err
		}
		if first == nil {
			first, out = text, read
		}
		if !bytes.Equal(text, first) {
			return filters{}, fmt.Errorf("the filter chains of the inbound differ: %s and %s", first, text)
		}
	}
	switch {
	case secure && plain:
		out.MTLS = "permissive"
	case secure:
		out.MTLS = "strict"
	default:
		out.MTLS = "disable"
	}
	return out, nil
}

func readChain(chain *listenerpb.FilterChain) (filters, error) {
	var out filters
	for _, f := range chain.Filters {
		m, err := f.GetTypedConfig().UnmarshalNew()
		if err != nil {
			return out, fmt.Errorf("read filter %s of Istio: %w", f.Name, err)
		}
		switch m := m.(type) {
		case *networkrbac.RBAC:
			err = appendMessage(&out.Network, m)
		case *networkauthz.ExtAuthz:
			err = appendPacked(&out.Network, m)
		case *hcm.HttpConnectionManager:
			err = out.readManager(m)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// readManager reads a connection manager. In the protocol the filter that reads tokens stands behind
// those that ask an authorizer, so Istio must have it there.
func (out *filters) readManager(m *hcm.HttpConnectionManager) error {
	var err error
	if out.Paths, err = printMessage(&hcm.HttpConnectionManager{
		NormalizePath: m.NormalizePath, MergeSlashes: m.MergeSlashes, PathWithEscapedSlashesAction: m.PathWithEscapedSlashesAction,
	}); err != nil {
		return err
	}
	var order []string
	for _, f := range m.HttpFilters {
		config, err := f.GetTypedConfig().UnmarshalNew()
		if err != nil {
			return fmt.Errorf("read filter %s of Istio: %w", f.Name, err)
		}
		switch config := config.(type) {
		case *httprbac.RBAC:
			order = append(order, "judges")
			err = appendMessage(&out.HTTP, config)
		case *httpauthz.ExtAuthz:
			order[len(order)-1] = "asks"
			err = appendPacked(&out.HTTP, config)
		case *jwtauthn.JwtAuthentication:
			order = append(order, "reads tokens")
			out.Tokens, err = printMessage(config)
		}
		if err != nil {
			return err
		}
	}
	if at := slices.Index(order, "reads tokens"); at >= 0 && slices.Contains(order[at:], "asks") {
		return fmt.Errorf("the filters of Istio are in an order that the protocol has no words for: %v", order)
	}
	return nil
}

func appendMessage(to *[]json.RawMessage, m proto.Message) error {
	text, err := printMessage(m)
	*to = append(*to, text)
	return err
}

// appendPacked adds a message with its type.
func appendPacked(to *[]json.RawMessage, m proto.Message) error {
	packed, err := anypb.New(m)
	if err != nil {
		return err
	}
	return appendMessage(to, packed)
}
