package metadata

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// NameProblem says why Kubernetes refuses the name of an object, "" where it takes it.
func NameProblem(name string) string {
	if name == "" {
		return "a name is required"
	}
	return problem(name, "no name of a Kubernetes object", validation.IsDNS1123Subdomain(name))
}

// NamespaceProblem says why Kubernetes refuses a namespace, "" where it takes it.
func NamespaceProblem(namespace string) string {
	return problem(namespace, "no namespace", validation.IsDNS1123Label(namespace))
}

func problem(name, is string, reasons []string) string {
	if reasons == nil {
		return ""
	}
	return fmt.Sprintf("%q is %s: %s", name, is, reasons[0])
}
