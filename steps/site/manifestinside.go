package site

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"touchdown/backend/message"
)

// everyone are groups that pods of the cluster's own components are in.
var everyone = []string{"system:authenticated", "system:serviceaccounts", "system:unauthenticated"}

// comesFirst tells whether SecurityContextConstraints have a priority. Of all that a pod's account may use, the one with the highest is tried
// first and sets what the pod leaves open, such as its user. Their users and groups bound that for no account that may do anything, which
// many operators of the cluster are: it may use each. Their pods that name none of their own would run with it, if they start at all; of
// the cluster's own, anyuid alone has a priority (openshift/apiserver-library-go a8019f39f, pkg/securitycontextconstraints:
// util/sort/bypriority.go, sccmatching/matcher.go, sccmatching/provider.go).
func comesFirst(m Manifest) bool {
	switch priority := m["priority"].(type) {
	case nil:
		return false
	case int64:
		return priority > 0
	}
	return true
}

// takesOver tells whether SecurityContextConstraints are for accounts of the cluster's own pods.
func takesOver(m Manifest) bool {
	own := func(namespace string) bool {
		return isOneOf(namespace, deniedNamespaces) || isOneOf(namespace, watched)
	}
	return slices.ContainsFunc(list(m["groups"]), func(group any) bool {
		name, _ := group.(string)
		namespace, all := strings.CutPrefix(name, "system:serviceaccounts:")
		return slices.Contains(everyone, name) || all && own(namespace)
	}) || slices.ContainsFunc(list(m["users"]), func(user any) bool {
		name, _ := user.(string)
		account, is := strings.CutPrefix(name, "system:serviceaccount:")
		namespace, _, _ := strings.Cut(account, ":")
		return is && own(namespace)
	})
}

// remedies tells whether an object has the Compliance Operator apply what it finds amiss, mostly as MachineConfigs
// (ComplianceAsCode/compliance-operator pkg/controller/complianceremediation/complianceremediation_controller.go).
func remedies(m Manifest) bool {
	return m["autoApplyRemediations"] == true || m.spec("autoApplyRemediations") == true || m.spec("apply") == true
}

// templated is a string of a ConfigurationPolicy with objects in it, which may be made by a template when the policy is looked at
// (open-cluster-management-io/config-policy-controller api/v1/configurationpolicy_types.go).
const templated = "object-templates-raw"

// inside finds what another object makes, as a TemplateInstance or an enforced ConfigurationPolicy does, and what must not be made: its kind,
// and why. enforced says that a policy around it enforces, which counts more than its own inform
// (open-cluster-management-io/governance-policy-framework-addon controllers/templatesync/template_sync.go, overrideRemediationAction).
func inside(value any, enforced bool) (kind string, why message.Text, is bool) {
	switch value := value.(type) {
	case map[string]any:
		switch action, _ := value["remediationAction"].(string); {
		case strings.EqualFold(action, "enforce"):
			enforced = true
		case strings.EqualFold(action, "informonly"), strings.EqualFold(action, "inform") && !enforced:
			return "", why, false // a policy that only looks
		}
		m := Manifest(value)
		if m.APIVersion() != "" && kindForm.MatchString(m.Kind()) && (m["metadata"] != nil || m["spec"] != nil) {
			if why, is := denied(m); is {
				return m.Kind(), why, true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			held := value[key]
			if text, ok := held.(string); ok && key == templated {
				if err := yaml.Unmarshal([]byte(text), &held); err != nil {
					return templated, message.T("what it makes cannot be judged, since it is a template"), true
				}
			}
			if kind, why, is := inside(held, enforced); is {
				return kind, why, true
			}
		}
	case []any:
		for _, item := range value {
			if kind, why, is := inside(item, enforced); is {
				return kind, why, true
			}
		}
	}
	return "", why, false
}
