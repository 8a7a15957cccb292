package manifestdiff

import (
	"fmt"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Template is what a workload says of the pods that are made for it.
type Template struct {
	// Object is the kind, the namespace and the name of the workload.
	Object                   string
	Namespace, Name, Account string
	Labels                   map[string]string
}

// Templates returns the templates of the workloads among some documents, such as those of Deployments.
func Templates(docs []manifest.Document) (out []Template) {
	for _, doc := range docs {
		o := objectOf(doc)
		for _, p := range workloadsOf([]object{o}).all {
			t := Template{Object: o.String(), Namespace: p.namespace, Name: p.name, Account: fmt.Sprint(normal("serviceAccountName", p.account)), Labels: map[string]string{}}
			for key, value := range p.labels {
				t.Labels[key] = fmt.Sprint(value)
			}
			out = append(out, t)
		}
	}
	return out
}
