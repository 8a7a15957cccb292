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

// configuration is what a filter is configured with.
type configuration struct {
	// packed is nil where there is none. Then missing says why.
	packed  *anypb.Any
	missing string
	// faults are what was lost when the configuration was read out of the dump.
	faults []messages.Fault
	// typeURL is the type of the configuration, or the types that a missing one may have.
	typeURL string
}

// message returns the full name of the message that is packed, empty for none.
func (c configuration) message() string { return messages.Name(messages.TypeURL(c.packed)) }

// configurationOf returns the configuration of a filter, which the filter has or discovery gave.
func (r *reader) configurationOf(f anyFilter) configuration {
	typed, discovery := f.GetTypedConfig(), f.GetConfigDiscovery()
	if discovery == nil {
		if typed.GetTypeUrl() == "" {
			return configuration{missing: "it has no configuration"}
		}
		return configuration{packed: typed, typeURL: typed.TypeUrl}
	}
	name := f.GetName()
	r.wanted.Extensions[name] = true
	d, ok := r.Extensions[name]
	var reason string
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
		return configuration{packed: d.Message, faults: d.Faults, typeURL: d.Message.GetTypeUrl()}
	}
	return configuration{missing: reason, typeURL: strings.Join(discovery.TypeUrls, ", ")}
}

// sourcesDiffer reports whether the filters of a dump take configurations of one name from several sources. Envoy
// keeps a configuration by its source and its name, and a dump shows the name alone.
func (r *reader) sourcesDiffer(name string) bool {
	if r.sources == nil {
		r.sources = map[string][]*corev3.ConfigSource{}
		note := func(m proto.Message) {
			f, ok := m.(discoverable)
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
func (r *reader) addDiscovered(to *calls, f anyFilter) {
	if d, ok := r.Extensions[f.GetName()]; ok && f.GetConfigDiscovery() != nil {
		to.add(&listenerv3.Filter{ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: d.Message}})
	}
}

// discoverable is a filter, or a part of one, whose configuration may come by discovery.
type discoverable interface {
	GetName() string
	GetConfigDiscovery() *corev3.ExtensionConfigSource
}

// anyFilter is a network filter, an HTTP filter or a listener filter.
type anyFilter interface {
	discoverable
	GetTypedConfig() *anypb.Any
}

// equalConfigs reports whether two configurations of filters are read as a whole, and are equal.
func equalConfigs(a, b *anypb.Any) bool {
	first, faults, err := messages.Unpack(a)
	second, more, other := messages.Unpack(b)
	return err == nil && other == nil && len(faults)+len(more) == 0 && proto.Equal(first, second)
}

// authorizesAlone reports whether a filter is an RBAC filter, whichever configuration it has.
func authorizesAlone(f anyFilter) bool {
	discovery := f.GetConfigDiscovery()
	urls := discovery.GetTypeUrls()
	if discovery == nil {
		urls = []string{messages.TypeURL(f.GetTypedConfig())}
	} else if discovery.DefaultConfig != nil {
		urls = append(slices.Clone(urls), messages.TypeURL(discovery.DefaultConfig))
	}
	return len(urls) > 0 && !slices.ContainsFunc(urls, func(url string) bool { return !messages.Authorizes(messages.Name(url)) })
}
