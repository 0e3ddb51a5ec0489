package site

import (
	"maps"
	"slices"
	"strings"
)

// everyone are groups that pods of the cluster's own components are in.
var everyone = []string{"system:authenticated", "system:serviceaccounts", "system:unauthenticated"}

// takesOver tells whether SecurityContextConstraints come before those that the cluster's own pods have run with. Of all that a pod's account
// may use, the one with the highest priority is tried first, and an account that may do anything may use each (openshift/apiserver-library-go
// pkg/securitycontextconstraints/util/sort/bypriority.go, sccmatching/matcher.go); of the cluster's own, anyuid alone has one.
func takesOver(m Manifest) bool {
	switch priority := m["priority"].(type) {
	case nil:
	case int64:
		if priority > 0 {
			return true
		}
	default:
		return true
	}
	groups, _ := m["groups"].([]any)
	return slices.ContainsFunc(groups, func(group any) bool {
		name, _ := group.(string)
		namespace, all := strings.CutPrefix(name, "system:serviceaccounts:")
		return slices.Contains(everyone, name) || all && (isOneOf(namespace, deniedNamespaces) || isOneOf(namespace, watched))
	})
}

// remedies tells whether an object has the Compliance Operator apply what it finds amiss, mostly as MachineConfigs
// (ComplianceAsCode/compliance-operator pkg/controller/complianceremediation/complianceremediation_controller.go).
func remedies(m Manifest) bool {
	return m["autoApplyRemediations"] == true || m.spec("autoApplyRemediations") == true || m.spec("apply") == true
}

// inside is an object that another one has made, such as a TemplateInstance or an enforced ConfigurationPolicy, and that is denied.
func inside(value any) (Manifest, bool) {
	switch value := value.(type) {
	case map[string]any:
		if action, _ := value["remediationAction"].(string); strings.HasPrefix(strings.ToLower(action), "inform") {
			return nil, false // a policy that only looks
		}
		m := Manifest(value)
		if m.APIVersion() != "" && kindForm.MatchString(m.Kind()) && (m["metadata"] != nil || m["spec"] != nil) {
			if _, is := denied(m); is {
				return m, true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if m, is := inside(value[key]); is {
				return m, true
			}
		}
	case []any:
		for _, item := range value {
			if m, is := inside(item); is {
				return m, true
			}
		}
	}
	return nil, false
}
