package lab

import (
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/policy"
)

// keyOf is the same for inbounds that policies cannot tell apart.
func keyOf(in policy.Inbound) string {
	w := in.Workload
	key := make([]byte, 0, 256)
	add := func(words ...string) {
		for _, word := range words {
			key = append(append(key, word...), 0)
		}
	}
	add(w.Name, w.Namespace, w.ServiceAccount, w.Mesh, w.Zone, w.Origin, in.Name, strconv.Itoa(int(in.Port)), in.Protocol.String(), w.IP.String())
	for _, set := range []map[string]string{w.Labels, in.Tags} {
		add(strconv.Itoa(len(set)))
		names := make([]string, 0, 16)
		for name := range set {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			add(name, set[name])
		}
	}
	for _, r := range in.Routes {
		add(r.Name, r.When.String())
	}
	return string(key)
}
