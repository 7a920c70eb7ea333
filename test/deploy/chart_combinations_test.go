package deploy_test

import (
	"strings"
	"testing"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// choices are what people choose independently of each other: the values of each side.
var choices = [][2]string{
	{"cluster: {uriSecret: {name: board-uri}}",
		"clusters: [{name: prod, uriSecret: {name: prod-uri}}, {name: eu, uriSecret: {name: eu-uri, key: address}}]"},
	{"replicas: 1", "replicas: 2\nstore: {uriSecret: {name: board-store}}\naudit: {keySecret: {name: board-audit}}\n" +
		"sessions: {keySecret: {name: board-sessions}}"},
	{"tls: {secretName: board-tls}", "tls: {proxyCIDRs: [10.0.0.0/8]}"},
	{"auth: {mode: local}", "auth: {mode: oidc, oidc: {issuer: https://id.example, clientID: board, roles: {dba: admin}}}"},
	{"networkPolicy: {enabled: true}", "networkPolicy: {enabled: false}"},
	{"podDisruptionBudget: {enabled: true}", "podDisruptionBudget: {enabled: false}"},
	{"ingress: {enabled: false}", "ingress: {enabled: true, className: nginx}"},
	{"serviceMonitor: {enabled: false}", "serviceMonitor: {enabled: true}\nprometheusRule: {enabled: true}\ndashboard: {enabled: true}"},
}

// Each combination is rendered, decoded strictly into Kubernetes' types, and has the objects that were chosen with
// names that Kubernetes takes.
func TestEveryCombinationOfValuesIsKubernetes(t *testing.T) {
	for n := range 1 << len(choices) {
		second := func(i int) bool { return n>>i&1 == 1 }
		values := "publicURL: https://board.example"
		for i, c := range choices {
			if second(i) {
				values += "\n" + c[1]
			} else {
				values += "\n" + c[0]
			}
		}
		o := mustRender(t, values)
		pod := o.sets[0].Spec.Template.Spec
		checkMounts(t, pod)
		checkPorts(t, pod.Containers[0])
		checkNames(t, o)
		for what, right := range map[string]bool{
			"clusters":   (len(o.maps) > 0 && o.maps[0].Data["shardboard.yaml"] != "") == second(0) || second(7),
			"store":      (environment(pod.Containers[0])["SHARDBOARD_STORE_FILE"] != "") == second(1),
			"policy":     len(o.policies) == 1 != second(4),
			"budget":     len(o.budgets) == 1 != second(5),
			"ingress":    len(o.ingresses) == 1 == second(6),
			"monitoring": len(o.monitors) == 1 == second(7) && len(o.rules) == 1 == second(7),
			"notes":      strings.Contains(o.notes, "no users yet") != second(3) && strings.Contains(o.notes, "doctor"),
		} {
			if !right {
				t.Errorf("%s is not as it was chosen", what)
			}
		}
		if t.Failed() {
			t.Fatalf("with the values\n%s\nrendered\n%s%s", values, o.everything, o.notes)
		}
	}
}

// A name that is too long for the label of a pod's revision, or for a service, is refused only by the cluster.
func TestNamesOfALongReleaseAreShortEnough(t *testing.T) {
	o := mustRender(t, least+"fullnameOverride: "+strings.Repeat("long-name-", 12)+"\nnameOverride: "+strings.Repeat("a", 70))
	checkNames(t, o)
	if name := o.sets[0].Name; len(name) > validation.DNS1123LabelMaxLength-len("-0123456789") {
		t.Errorf("the pods of %s need a label of more than 63 characters", name)
	}
}

func checkNames(t *testing.T, o objects) {
	t.Helper()
	var all []meta.ObjectMeta
	for _, x := range o.sets {
		all = append(all, x.ObjectMeta, x.Spec.Template.ObjectMeta)
		for _, v := range x.Spec.Template.Spec.Volumes {
			report(t, "volume "+v.Name, validation.IsDNS1123Label(v.Name))
		}
		for _, e := range x.Spec.Template.Spec.Containers[0].Env {
			report(t, "variable "+e.Name, validation.IsEnvVarName(e.Name))
		}
		for _, p := range x.Spec.Template.Spec.Containers[0].Ports {
			report(t, "port "+p.Name, validation.IsValidPortName(p.Name))
		}
	}
	for _, x := range o.services {
		all = append(all, x.ObjectMeta)
		report(t, "service "+x.Name, validation.IsDNS1035Label(x.Name))
	}
	for _, x := range o.accounts {
		all = append(all, x.ObjectMeta)
	}
	for _, x := range o.maps {
		all = append(all, x.ObjectMeta)
		for key := range x.Data {
			report(t, "key "+key, validation.IsConfigMapKey(key))
		}
	}
	for _, x := range o.ingresses {
		all = append(all, x.ObjectMeta)
		report(t, "host "+x.Spec.Rules[0].Host, validation.IsDNS1123Subdomain(x.Spec.Rules[0].Host))
	}
	for _, x := range o.policies {
		all = append(all, x.ObjectMeta)
	}
	for _, x := range o.budgets {
		all = append(all, x.ObjectMeta)
	}
	for _, m := range all {
		if m.Name != "" { // a pod of a set has none
			report(t, "name "+m.Name, validation.IsDNS1123Subdomain(m.Name))
		}
		for key, value := range m.Labels {
			report(t, "label "+key, append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...))
		}
		for key := range m.Annotations {
			report(t, "annotation "+key, validation.IsQualifiedName(key))
		}
	}
}

func report(t *testing.T, what string, mistakes []string) {
	t.Helper()
	if len(mistakes) > 0 {
		t.Errorf("%s: %v", what, mistakes)
	}
}
