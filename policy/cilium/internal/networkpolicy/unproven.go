package networkpolicy

// The types of this file have no part in the decision of an inbound. They are read, because Cilium
// refuses a whole policy for each of them.

// Label is a label that the agent gives to the rules.
type Label struct {
	Key    string `yaml:"key"`
	Value  string `yaml:"value"`
	Source string `yaml:"source"`
}

// Log is a text that the agent writes beside a verdict.
type Log struct {
	Value string `yaml:"value"`
}

// ICMP is a list of messages.
type ICMP struct {
	Fields []ICMPField `yaml:"fields"`
}

// ICMPField is a message by its number or by its name.
type ICMPField struct {
	Family *string `yaml:"family"`
	Type   any     `yaml:"type"`
}

// Service is a service of Kubernetes, or a selector of some.
type Service struct {
	K8sService *struct {
		ServiceName string `yaml:"serviceName"`
		Namespace   string `yaml:"namespace"`
	} `yaml:"k8sService"`
	K8sServiceSelector *struct {
		Selector  *Selector `yaml:"selector"`
		Namespace string    `yaml:"namespace"`
	} `yaml:"k8sServiceSelector"`
}

// DomainName is a name, or a pattern with stars.
type DomainName struct {
	MatchName    *string `yaml:"matchName"`
	MatchPattern *string `yaml:"matchPattern"`
}

// Group is a group of machines in a cloud.
type Group struct {
	AWS *struct {
		Labels              map[string]string `yaml:"labels"`
		Region              string            `yaml:"region"`
		SecurityGroupsIDs   []string          `yaml:"securityGroupsIds"`
		SecurityGroupsNames []string          `yaml:"securityGroupsNames"`
	} `yaml:"aws"`
}

// TLS has the certificates with which the agent reads TLS.
type TLS struct {
	Secret      *Secret `yaml:"secret"`
	TrustedCA   string  `yaml:"trustedCA"`
	Certificate string  `yaml:"certificate"`
	PrivateKey  string  `yaml:"privateKey"`
}

// Secret names a secret of the cluster.
type Secret struct {
	Name      *string `yaml:"name"`
	Namespace string  `yaml:"namespace"`
}

// Listener is a listener that the proxy has for one policy.
type Listener struct {
	EnvoyConfig *struct {
		Kind *string `yaml:"kind"`
		Name string  `yaml:"name"`
	} `yaml:"envoyConfig"`
	Name     string `yaml:"name"`
	Priority *int   `yaml:"priority"`
}
