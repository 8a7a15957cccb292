package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// registered has the Dataplane with which a sidecar of Kuma on universal came to its control plane, as text
// (FieldDataplaneDataplaneResource in pkg/core/xds).
const registered = "dataplane.resource"

// otherDataplane says in what a node states another Dataplane than the one beside the policies, or than a case or flags describe, where that
// matters; "" for nothing. The one beside the policies may be an older copy, which other policies select.
func (s *subject) otherDataplane(in cases.Inbound, enforced sidecar.Inbound, nodes []dump.Node) (string, error) {
	stands := "the one beside the policies"
	if s.dataplane == "" {
		stands = "what describes the workload"
	}
	for _, node := range nodes {
		stated, has := node.Metadata[registered]
		if !has {
			continue
		}
		own, err := parseRegistered(stated)
		if err != nil {
			return fmt.Sprintf("the node states the Dataplane of its sidecar (%s), and it is not read: %v", registered, err), nil
		}
		i := slices.IndexFunc(own.Inbounds, func(of policy.Inbound) bool { return of.Port == in.Port })
		if i < 0 {
			return fmt.Sprintf("the Dataplane that the node states (%s) has no inbound on port %d", registered, in.Port), nil
		}
		if address := own.Addresses[i]; s.dataplane != "" && (address.IsValid() && len(s.addresses) > 0 && !s.hasAddress(address) || !slices.Contains(s.workloads, own.Workloads[i])) {
			return fmt.Sprintf("the Dataplane that the node states (%s) has another address or another place of the workload for port %d than %s", registered, in.Port, stands), nil
		}
		as := in
		as.Name, as.Tags = own.Inbounds[i].Name, withComputed(own.Inbounds[i].Tags, in.Tags)
		as.Workload.Labels = withComputed(own.Workload.Labels, in.Workload.Labels)
		differs, err := s.source.decidesApart(in, as, enforced)
		if err != nil {
			return "", err
		}
		if differs {
			return fmt.Sprintf("the Dataplane that the node states (%s) has other labels, other tags or another name for port %d than %s, and the policies decide otherwise for it", registered, in.Port, stands), nil
		}
	}
	return "", nil
}

// parseRegistered reads the Dataplane in the metadata of a node.
func parseRegistered(stated any) (*dataplane.Dataplane, error) {
	text, isText := stated.(string)
	if !isText {
		return nil, errors.New("it is no text")
	}
	docs, err := manifest.Parse(registered, []byte(text))
	switch {
	case err != nil:
		return nil, err
	case len(docs) != 1 || !dataplane.Owns(docs[0]):
		return nil, errors.New("it is not one Dataplane")
	}
	return dataplane.Parse(docs[0])
}

// computed are the labels and tags of a Dataplane that a control plane gives it (AllComputedLabels in pkg/core/resources/labels, and the tag of the zone). On universal
// nobody but the author gives it others of Kuma, such as kuma.io/workload.
var computed = strings.Fields("kuma.io/mesh kuma.io/display-name kuma.io/origin kuma.io/zone kuma.io/env kuma.io/proxy-type k8s.kuma.io/namespace kuma.io/listener-zoneingress kuma.io/listener-zoneegress")

// withComputed returns labels or tags with those that a control plane computes, and that they lack.
func withComputed(own, others map[string]string) map[string]string {
	out := map[string]string{}
	for _, key := range computed {
		if value, has := others[key]; has {
			out[key] = value
		}
	}
	maps.Copy(out, own)
	return out
}
