package overlap

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// A property is what a target may ask for. Two properties of an inbound have nothing to do with each other.
type property struct {
	// text is the same for inbounds with the same value.
	text func(in policy.Inbound) string
	// copy writes into the labels and tags of an inbound that has its own, see detached.
	copy func(to *policy.Inbound, from policy.Inbound)
	// values are all values, least those that suffice where no target asks for one.
	values, least []value
}

// value is a value of a property. The sample has it, and it keeps no target of meets from selecting an inbound.
type value struct {
	sample policy.Inbound
	meets  set
}

// propertiesOf returns the properties of the inbounds, the labels and tags last.
func propertiesOf(samples []policy.Inbound) []property {
	out := []property{
		{text: func(in policy.Inbound) string { return in.Workload.Mesh }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Workload.Mesh = from.Workload.Mesh }},
		{text: func(in policy.Inbound) string { return in.Workload.Namespace }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Workload.Namespace = from.Workload.Namespace }},
		// A zone counts for the workloads of a zone only.
		{text: func(in policy.Inbound) string { return in.Workload.Origin + "/" + in.Workload.Zone }, copy: func(to *policy.Inbound, from policy.Inbound) {
			to.Workload.Origin, to.Workload.Zone = from.Workload.Origin, from.Workload.Zone
		}},
		{text: func(in policy.Inbound) string { return in.Workload.Name }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Workload.Name = from.Workload.Name }},
		{text: func(in policy.Inbound) string { return in.Workload.ServiceAccount }, copy: func(to *policy.Inbound, from policy.Inbound) {
			to.Workload.ServiceAccount = from.Workload.ServiceAccount
		}},
		{text: func(in policy.Inbound) string { return in.Workload.IP.String() }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Workload.IP = from.Workload.IP }},
		// A target that asks for a section may mean either.
		{text: func(in policy.Inbound) string { return fmt.Sprint(in.Name, "/", in.Port) }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Name, to.Port = from.Name, from.Port }},
		{text: func(in policy.Inbound) string { return fmt.Sprint(in.Routes) }, copy: func(to *policy.Inbound, from policy.Inbound) { to.Routes = from.Routes }},
	}
	labels, tags := map[string]bool{}, map[string]bool{}
	for _, in := range samples {
		for key := range in.Workload.Labels {
			labels[key] = true
		}
		for key := range in.Tags {
			tags[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, entry(key, func(in *policy.Inbound) *map[string]string { return &in.Workload.Labels }))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, entry(key, func(in *policy.Inbound) *map[string]string { return &in.Tags }))
	}
	return out
}

// entry is the property of one key of labels or tags, which an inbound may lack.
func entry(key string, of func(in *policy.Inbound) *map[string]string) property {
	return property{
		text: func(in policy.Inbound) string {
			if value, ok := (*of(&in))[key]; ok {
				return "=" + value
			}
			return ""
		},
		copy: func(to *policy.Inbound, from policy.Inbound) {
			entries := of(to)
			if value, ok := (*of(&from))[key]; !ok {
				delete(*entries, key)
			} else {
				if *entries == nil {
					*entries = map[string]string{}
				}
				(*entries)[key] = value
			}
		},
	}
}

// detached returns an inbound with labels and tags of its own.
func detached(in policy.Inbound) policy.Inbound {
	in.Workload.Labels, in.Tags = maps.Clone(in.Workload.Labels), maps.Clone(in.Tags)
	return in
}
