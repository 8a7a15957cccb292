package mesh

import "github.com/meshproof/meshproof/policy/manifest"

// authorizationPolicy has the fields of the resource that the compiler reads. Other fields
// stay documents.
type authorizationPolicy struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   metadata          `yaml:"metadata"`
	Spec       spec              `yaml:"spec"`
	Status     manifest.Document `yaml:"status"`
}

type metadata struct {
	Name              string            `yaml:"name"`
	Namespace         string            `yaml:"namespace"`
	Labels            manifest.Document `yaml:"labels"`
	Annotations       manifest.Document `yaml:"annotations"`
	UID               string            `yaml:"uid"`
	ResourceVersion   string            `yaml:"resourceVersion"`
	Generation        int64             `yaml:"generation"`
	CreationTimestamp *string           `yaml:"creationTimestamp"`
	// What else an API server adds decides nothing.
	DeletionTimestamp          string            `yaml:"deletionTimestamp"`
	DeletionGracePeriodSeconds int64             `yaml:"deletionGracePeriodSeconds"`
	GenerateName               string            `yaml:"generateName"`
	OwnerReferences            manifest.Document `yaml:"ownerReferences"`
	ManagedFields              manifest.Document `yaml:"managedFields"`
	Finalizers                 manifest.Document `yaml:"finalizers"`
	SelfLink                   string            `yaml:"selfLink"`
}

type spec struct {
	TargetRefs       []targetRef `yaml:"targetRefs"`
	Action           string      `yaml:"action"`
	EnforcementLevel string      `yaml:"enforcementLevel"`
	Rules            []rule      `yaml:"rules"`
}

type targetRef struct {
	Group    string `yaml:"group"`
	Kind     string `yaml:"kind"`
	Name     string `yaml:"name"`
	Selector struct {
		MatchLabels      map[string]string `yaml:"matchLabels"`
		MatchExpressions []struct {
			Key      string   `yaml:"key"`
			Operator string   `yaml:"operator"`
			Values   []string `yaml:"values"`
		} `yaml:"matchExpressions"`
	} `yaml:"selector"`
}

type rule struct {
	// Sources are all callers when the list is absent, and no caller when it is empty.
	Sources           *[]source `yaml:"sources"`
	NetworkAttributes struct {
		Ports []uint32 `yaml:"ports"`
	} `yaml:"networkAttributes"`
}

type source struct {
	Type           string `yaml:"type"`
	SPIFFE         string `yaml:"spiffe"`
	ServiceAccount struct {
		Namespace string `yaml:"namespace"`
		Name      string `yaml:"name"`
	} `yaml:"serviceAccount"`
}
