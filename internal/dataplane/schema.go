package dataplane

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

const apiVersion = "kuma.io/v1alpha1"

// universalSchema is a Dataplane as kumactl takes it: it has no spec.
type universalSchema struct {
	Type       string            `yaml:"type"`
	Mesh       string            `yaml:"mesh"`
	Name       string            `yaml:"name"`
	Labels     map[string]string `yaml:"labels"`
	Networking networkingSchema  `yaml:"networking"`
	ignoredFields

	// What a control plane adds to what it stores.
	CreationTime     manifest.Document `yaml:"creationTime"`
	ModificationTime manifest.Document `yaml:"modificationTime"`
	Status           manifest.Document `yaml:"status"`
}

// kubernetesSchema is the custom resource; its mesh stands at the root, or in a
// label.
type kubernetesSchema struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Mesh       string `yaml:"mesh"`
	Metadata   struct {
		Name        string            `yaml:"name"`
		Namespace   string            `yaml:"namespace"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
		serverMetadata
	} `yaml:"metadata"`
	Spec struct {
		Networking networkingSchema `yaml:"networking"`
		ignoredFields
	} `yaml:"spec"`
	Status manifest.Document `yaml:"status"`
}

// serverMetadata is what an API server adds to the metadata of an object.
type serverMetadata struct {
	UID               manifest.Document `yaml:"uid"`
	ResourceVersion   manifest.Document `yaml:"resourceVersion"`
	Generation        manifest.Document `yaml:"generation"`
	CreationTimestamp manifest.Document `yaml:"creationTimestamp"`
	OwnerReferences   manifest.Document `yaml:"ownerReferences"`
	ManagedFields     manifest.Document `yaml:"managedFields"`
	Finalizers        manifest.Document `yaml:"finalizers"`
}

// ignoredFields are the fields of a Dataplane that say nothing about its callers.
type ignoredFields struct {
	Metrics manifest.Document `yaml:"metrics"`
	Probes  manifest.Document `yaml:"probes"`
	Envoy   manifest.Document `yaml:"envoy"`
}

type networkingSchema struct {
	Address string          `yaml:"address"`
	Inbound []inboundSchema `yaml:"inbound"`

	AdvertisedAddress   string            `yaml:"advertisedAddress"`
	Admin               manifest.Document `yaml:"admin"`
	Gateway             manifest.Document `yaml:"gateway"`
	Outbound            manifest.Document `yaml:"outbound"`
	TransparentProxying manifest.Document `yaml:"transparentProxying"`
}

type inboundSchema struct {
	Name     string            `yaml:"name"`
	Port     uint16            `yaml:"port"`
	Protocol *protocol         `yaml:"protocol"`
	Tags     map[string]string `yaml:"tags"`

	Address        string            `yaml:"address"`
	ServiceAddress string            `yaml:"serviceAddress"`
	ServicePort    uint16            `yaml:"servicePort"`
	ServiceProbe   manifest.Document `yaml:"serviceProbe"`
	Health         manifest.Document `yaml:"health"`
	// State is dropped: policies also select an inbound that is not ready, or that
	// discovery ignores.
	State string `yaml:"state"`
}

// protocol reads Kuma's names of a protocol. Kuma treats kafka as tcp.
type protocol struct{ policy.Protocol }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *protocol) UnmarshalText(text []byte) error {
	if string(text) == "kafka" {
		p.Protocol = policy.TCP
		return nil
	}
	if p.Protocol.UnmarshalText(text) != nil {
		return fmt.Errorf("protocol %q is unknown: use http, http2, grpc, tcp or kafka", text)
	}
	return nil
}
