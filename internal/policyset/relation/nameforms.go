package relation

import (
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
)

// formOfName makes names in a form that few names have, for one role.
type formOfName struct {
	role role
	make func(c *choice.Chooser, namespace, name string) string
}

// formsOfNames have names as long as Kubernetes takes them, of digits, of one character, with two dashes, and those
// that begin with each other, and the namespace of the cluster itself.
var formsOfNames = []formOfName{
	{ofWorkload, func(c *choice.Chooser, _, _ string) string { return c.Letters(63) }},
	{ofOwnNamespace, func(c *choice.Chooser, _, _ string) string { return c.Letters(63) }},
	{ofPolicy, func(c *choice.Chooser, _, _ string) string { return c.Letters(253) }},
	{ofWorkload, func(c *choice.Chooser, _, _ string) string { return c.Letters(4) + "--" + c.Letters(3) }},
	{ofWorkload, func(c *choice.Chooser, _, _ string) string { return c.Letters(4) + "." + c.Letters(3) }},
	{ofWorkload, func(c *choice.Chooser, _, _ string) string {
		return strings.Repeat(choice.Pick(c, "0", "1", "7"), c.Number(1, 5))
	}},
	// Control planes often leave the namespace of the cluster itself alone.
	{ofOwnNamespace, func(c *choice.Chooser, _, _ string) string {
		return choice.Pick(c, strings.Repeat(choice.Pick(c, "0", "1", "7"), c.Number(1, 5)), "kube-system")
	}},
	{ofOwnNamespace, func(c *choice.Chooser, _, _ string) string {
		return choice.Pick(c, c.Letters(1), "kube-system")
	}},
	{ofPolicy, func(c *choice.Chooser, _, _ string) string { return c.Letters(3) + "--" + c.Letters(3) }},
	{ofWorkload, func(c *choice.Chooser, namespace, _ string) string { return namespace + c.Letters(1) }},
	{ofPolicy, func(c *choice.Chooser, namespace, _ string) string { return namespace + "-" + c.Letters(2) }},
	{ofTrustDomain, func(c *choice.Chooser, _, _ string) string {
		return c.Letters(60) + "." + c.Letters(50) + "." + c.Letters(3)
	}},
	{ofTrustDomain, func(c *choice.Chooser, _, _ string) string { return c.Letters(1) }},
	{ofAccount, func(c *choice.Chooser, _, _ string) string { return "default" }},
	{ofLabel, func(c *choice.Chooser, _, _ string) string { return c.Letters(63) }},
	{ofWorkload, func(c *choice.Chooser, _, name string) string { return name[:1] }},
	{ofPolicyNamespace, func(c *choice.Chooser, _, _ string) string { return c.Letters(45) }},
	{ofLabel, func(c *choice.Chooser, _, _ string) string {
		return capitals(c, 2) + "_" + c.Letters(2) + "." + capitals(c, 1)
	}},
	{ofLabel, func(c *choice.Chooser, _, _ string) string {
		return choice.Pick(c, "2024", "7", "007", "1e3", "true", "null")
	}},
	{ofLabel, func(c *choice.Chooser, _, _ string) string { return c.Letters(2) + "--" + c.Letters(2) }},
	{ofLabelKey, func(c *choice.Chooser, _, _ string) string {
		return c.Letters(3) + "." + c.Letters(2) + "/" + capitals(c, 2) + "_" + c.Letters(2)
	}},
	{ofLabelKey, func(c *choice.Chooser, _, _ string) string { return "app.kubernetes.io/" + c.Letters(4) }},
	{ofLabelKey, func(c *choice.Chooser, _, _ string) string { return capitals(c, 1) + c.Letters(3) + "." + c.Letters(2) }},
	{ofLabelKey, func(c *choice.Chooser, _, _ string) string {
		return c.Letters(50) + "." + c.Letters(50) + "/" + c.Letters(63)
	}},
	{ofAccount, func(c *choice.Chooser, _, _ string) string { return c.Letters(4) + "." + c.Letters(3) }},
	{ofAccount, func(c *choice.Chooser, _, _ string) string {
		return c.Letters(60) + "-" + c.Letters(60) + "." + c.Letters(60)
	}},
	{ofAccount, func(c *choice.Chooser, _, _ string) string {
		return choice.Pick(c, "2024", "7", "0x1", "null", "true", "constructor")
	}},
	{ofAccount, func(c *choice.Chooser, _, _ string) string { return c.Letters(2) + "--" + c.Letters(2) }},
	{ofAccountNamespace, func(c *choice.Chooser, _, _ string) string { return choice.Pick(c, "2024", "7", "0x1") }},
	{ofAccountNamespace, func(c *choice.Chooser, _, _ string) string { return c.Letters(2) + "--" + c.Letters(2) }},
	{ofAccountNamespace, func(c *choice.Chooser, _, _ string) string { return c.Letters(63) }},
	{ofOwnNamespace, func(c *choice.Chooser, _, _ string) string { return c.Letters(2) + "--" + c.Letters(2) }},
	{ofInbound, func(c *choice.Chooser, _, _ string) string { return c.Letters(1) }},
	{ofInbound, func(c *choice.Chooser, _, _ string) string { return choice.Pick(c, "2024", "8080", "7") }},
	// Pods of a StatefulSet are numbered.
	{ofWorkload, func(c *choice.Chooser, _, _ string) string {
		return c.Letters(4) + "-" + choice.Pick(c, "0", "1", "12")
	}},
	{ofWorkload, func(c *choice.Chooser, _, _ string) string { return c.Letters(4) + "-" + choice.Pick(c, "0", "2") }},
	{ofRoute, func(c *choice.Chooser, _, _ string) string { return c.Letters(60) }},
	{ofTrustDomain, func(c *choice.Chooser, _, _ string) string {
		return choice.Pick(c, "2024", "10.1.2.3", "a_b.example", "x--y")
	}},
}

func capitals(c *choice.Chooser, n int) string { return strings.ToUpper(c.Letters(n)) }
