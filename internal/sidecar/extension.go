package sidecar

import (
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

// extension returns the configuration of a filter, from the filter or by discovery. The reason says
// why there is none; the type URL is then the type that is missing.
func (r *reader) extension(name string, typed *anypb.Any, discovery *corev3.ExtensionConfigSource) (packed *anypb.Any, faults []messages.Fault, typeURL, reason string) {
	if discovery == nil {
		if typed.GetTypeUrl() == "" {
			return nil, nil, "", "it has no configuration"
		}
		return typed, nil, typed.TypeUrl, ""
	}
	r.wanted.Extensions[name] = true
	types := strings.Join(discovery.TypeUrls, ", ")
	d, ok := r.Extensions[name]
	switch {
	case !ok && discovery.DefaultConfig != nil:
		reason = "its configuration comes by discovery and is not there; Envoy may use the default configuration"
	case !ok:
		reason = "its configuration comes by discovery and is not there"
	case discovery.GetConfigSource().GetAds() == nil:
		reason = "its configuration comes by discovery from another server than the control plane (ads): nothing tells whether that of this name in the dump is from there"
	case r.sourcesDiffer(name):
		reason = "several servers give a configuration of its name by discovery: nothing tells from which one that in the dump is"
	case discovery.DefaultConfig != nil && !equalConfigs(discovery.DefaultConfig, d.Message):
		reason = "its default configuration (default_config) is another one than discovery gave: Envoy uses it while discovery gives none"
	case !slices.ContainsFunc(discovery.TypeUrls, func(url string) bool { return messages.Name(url) == messages.Name(messages.TypeURL(d.Message)) }):
		reason = fmt.Sprintf("its configuration by discovery is of another type, %s: Envoy takes none but those that the filter names", messages.Name(messages.TypeURL(d.Message)))
	default:
		return d.Message, d.Faults, d.Message.GetTypeUrl(), ""
	}
	return nil, nil, types, reason
}

// sourcesDiffer reports whether the filters of a dump take configurations of one name from several sources. Envoy
// keeps a configuration by its source and its name, and a dump shows the name alone.
func (r *reader) sourcesDiffer(name string) bool {
	if r.sources == nil {
		r.sources = map[string][]*corev3.ConfigSource{}
		note := func(m proto.Message) {
			f, ok := m.(configured)
			if !ok || f.GetConfigDiscovery() == nil {
				return
			}
			of := f.GetConfigDiscovery().GetConfigSource()
			if !slices.ContainsFunc(r.sources[f.GetName()], func(other *corev3.ConfigSource) bool { return proto.Equal(of, other) }) {
				r.sources[f.GetName()] = append(r.sources[f.GetName()], of)
			}
		}
		for _, d := range r.Listeners {
			eachMessage(d.Message, note)
		}
		for _, d := range r.Clusters {
			eachMessage(d.Message, note)
		}
		for _, d := range r.Extensions {
			if d.Message != nil {
				eachMessage(d.Message, note)
			}
		}
	}
	return len(r.sources[name]) > 1
}

// addDiscovered adds what the configuration of a filter may call, where discovery gave it.
func (r *reader) addDiscovered(to *calls, f configured) {
	if d, ok := r.Extensions[f.GetName()]; ok && f.GetConfigDiscovery() != nil {
		to.add(&listenerv3.Filter{ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: d.Message}})
	}
}

// configured is a filter, or a part of one, whose configuration may come by discovery.
type configured interface {
	GetName() string
	GetConfigDiscovery() *corev3.ExtensionConfigSource
}

// equalConfigs reports whether two configurations of filters are read as a whole, and are equal.
func equalConfigs(a, b *anypb.Any) bool {
	first, faults, err := messages.Unpack(a)
	second, more, other := messages.Unpack(b)
	return err == nil && other == nil && len(faults)+len(more) == 0 && proto.Equal(first, second)
}

// authorizesAlone reports whether a filter is an RBAC filter, whichever configuration it has.
func authorizesAlone(typed *anypb.Any, discovery *corev3.ExtensionConfigSource) bool {
	urls := discovery.GetTypeUrls()
	if discovery == nil {
		urls = []string{messages.TypeURL(typed)}
	} else if discovery.DefaultConfig != nil {
		urls = append(slices.Clone(urls), messages.TypeURL(discovery.DefaultConfig))
	}
	return len(urls) > 0 && !slices.ContainsFunc(urls, func(url string) bool { return !messages.Authorizes(messages.Name(url)) })
}
