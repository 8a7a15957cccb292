package authorization

import (
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/util/validation"
)

func (p Policy) checkRules() error {
	for i, rule := range p.rules() {
		if err := p.checkRule(item("spec.rules", i), rule); err != nil {
			return err
		}
	}
	return nil
}

func (p Policy) checkRule(field string, rule Rule) error {
	if rule.Sources == nil && rule.NetworkAttributes == nil && p.isNull(field) {
		return p.doc.Errorf(field, "the rule has no value: write {} to let everybody in")
	}
	switch sources := field + ".sources"; {
	case rule.Sources != nil:
		for i, source := range *rule.Sources {
			if err := p.checkSource(item(sources, i), source); err != nil {
				return err
			}
		}
	case p.isNull(sources):
		return p.doc.Errorf(sources, "the list has no value: write [] to let nobody in, leave the field out to let everybody in")
	}
	attributes := field + ".networkAttributes"
	if rule.NetworkAttributes == nil {
		if p.isNull(attributes) {
			return p.doc.Errorf(attributes, "the field has no value: leave it out to mean all ports")
		}
		return nil
	}
	return p.checkPorts(attributes+".ports", rule.NetworkAttributes.Ports)
}

func (p Policy) checkPorts(field string, ports *[]uint16) error {
	switch {
	case ports == nil && p.isNull(field), ports != nil && len(*ports) == 0:
		return p.doc.Errorf(field, "the list has no port: leave the field out to mean all ports")
	case ports == nil:
		return nil
	}
	for i, port := range *ports {
		if port == 0 {
			return p.doc.Errorf(item(field, i), "0 is no port: use 1 to 65535")
		}
	}
	return nil
}

func (p Policy) checkSource(field string, s Source) error {
	switch s.Type {
	case "":
		return p.doc.Errorf(field+".type", "the type is missing: use %s or %s", sourceSPIFFE, sourceAccount)
	case sourceSPIFFE:
		switch {
		case s.ServiceAccount != nil:
			return p.doc.Errorf(field+".serviceAccount", "must not be set beside type %s: write a source for each", s.Type)
		case s.SPIFFE == nil:
			return p.doc.Errorf(field+".spiffe", "the SPIFFE ID is missing")
		}
		return p.checkSPIFFE(field+".spiffe", *s.SPIFFE)
	case sourceAccount:
		switch {
		case s.SPIFFE != nil:
			return p.doc.Errorf(field+".spiffe", "must not be set beside type %s: write a source for each", s.Type)
		case s.ServiceAccount == nil:
			return p.doc.Errorf(field+".serviceAccount", "the service account is missing")
		}
		return p.checkAccount(field+".serviceAccount", *s.ServiceAccount)
	default:
		return p.doc.Errorf(field+".type", "%q is unknown: use %s or %s", s.Type, sourceSPIFFE, sourceAccount)
	}
}

// checkSPIFFE checks the value against the SPIFFE ID standard, for an SVID has a SPIFFE
// ID. GEP-3779 demands a path behind the trust domain.
func (p Policy) checkSPIFFE(field, value string) error {
	if strings.Contains(value, "*") {
		return p.doc.Errorf(field, "a SPIFFE ID is compared as a whole, * has no meaning in it: list the IDs, or use type %s", sourceAccount)
	}
	id, err := spiffeid.FromString(value)
	switch {
	case err != nil:
		return p.doc.Errorf(field, "not a SPIFFE ID: %v", err)
	case id.Path() == "":
		return p.doc.Errorf(field, "%s names a trust domain and no workload: write the path of the workload behind it", value)
	}
	return nil
}

func (p Policy) checkAccount(field string, a ServiceAccount) error {
	if a.Namespace != nil {
		if *a.Namespace == "" {
			return p.doc.Errorf(field+".namespace", "the namespace is empty: leave the field out to mean the policy's, %s", p.resource.Metadata.Namespace)
		}
		if reasons := validation.IsDNS1123Label(*a.Namespace); reasons != nil {
			return p.doc.Errorf(field+".namespace", "%q is no namespace: %s", *a.Namespace, reasons[0])
		}
	}
	switch {
	case a.Name == "":
		return p.doc.Errorf(field+".name", "the name is missing: write * for all service accounts of the namespace")
	case a.Name == anyAccount:
		return nil
	}
	if reasons := validation.IsDNS1123Subdomain(a.Name); reasons != nil {
		return p.doc.Errorf(field+".name", "%q is neither * nor a name of a service account: %s", a.Name, reasons[0])
	}
	return nil
}
