package deploy_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

const chartDir = "../../deploy/helm/shardboard"

// readChart reads the chart once for all tests, which do not change it.
var readChart = sync.OnceValues(func() (*chart.Chart, error) {
	c, err := loader.Load(chartDir)
	if err == nil {
		err = c.Validate()
	}
	return c, err
})

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := readChart()
	must(t, err)
	return c
}

// render renders the chart with values, as `helm install board` in the namespace yorkie does.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatalf("%v in\n%s", err, values)
	}
	c := loadChart(t)
	all, err := commonutil.ToRenderValues(c, given, common.ReleaseOptions{Name: "board", Namespace: "yorkie", Revision: 1, IsInstall: true},
		common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// objects are the rendered objects, each decoded into its Kubernetes type. Unknown and doubled fields are errors.
type objects struct {
	sets       []apps.StatefulSet
	services   []core.Service
	accounts   []core.ServiceAccount
	maps       []core.ConfigMap
	ingresses  []networking.Ingress
	policies   []networking.NetworkPolicy
	budgets    []policy.PodDisruptionBudget
	monitors   []monitoring.ServiceMonitor
	rules      []monitoring.PrometheusRule
	routes     []gateway.HTTPRoute
	notes      string
	everything string
}

func mustRender(t *testing.T, values string) (out objects) {
	t.Helper()
	files, err := render(t, values)
	must(t, err)
	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			out.notes = text
			continue
		}
		if strings.HasSuffix(name, ".tpl") {
			continue
		}
		out.everything += text
		for docs := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
			doc, err := docs.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(bytes.TrimSpace(doc)) > 0 {
				out.add(t, name, doc)
			}
		}
	}
	return out
}

func (o *objects) add(t *testing.T, name string, doc []byte) {
	t.Helper()
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(doc, &kind); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, doc)
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 StatefulSet":
		o.sets = append(o.sets, decode[apps.StatefulSet](t, doc))
	case "v1 Service":
		o.services = append(o.services, decode[core.Service](t, doc))
	case "v1 ServiceAccount":
		o.accounts = append(o.accounts, decode[core.ServiceAccount](t, doc))
	case "v1 ConfigMap":
		o.maps = append(o.maps, decode[core.ConfigMap](t, doc))
	case "networking.k8s.io/v1 Ingress":
		o.ingresses = append(o.ingresses, decode[networking.Ingress](t, doc))
	case "networking.k8s.io/v1 NetworkPolicy":
		o.policies = append(o.policies, decode[networking.NetworkPolicy](t, doc))
	case "policy/v1 PodDisruptionBudget":
		o.budgets = append(o.budgets, decode[policy.PodDisruptionBudget](t, doc))
	case "monitoring.coreos.com/v1 ServiceMonitor":
		o.monitors = append(o.monitors, decode[monitoring.ServiceMonitor](t, doc))
	case "monitoring.coreos.com/v1 PrometheusRule":
		o.rules = append(o.rules, decode[monitoring.PrometheusRule](t, doc))
	case "gateway.networking.k8s.io/v1 HTTPRoute":
		o.routes = append(o.routes, decode[gateway.HTTPRoute](t, doc))
	default:
		t.Fatalf("%s has a %s %s, which is not checked", name, kind.APIVersion, kind.Kind)
	}
}

func decode[T any](t *testing.T, doc []byte) (out T) {
	t.Helper()
	if err := yaml.UnmarshalStrict(doc, &out); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	return out
}

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// docs/upgrade.md has a pod that goes back in Kubernetes, docs/data.md parts of one.
func TestManifestsOfTheDocumentationAreKubernetes(t *testing.T) {
	manifest := regexp.MustCompile("(?ms)^```yaml\n(apiVersion: v1\nkind: Pod\n.*?)^```$|^```yaml\n(spec:\n.*?)^```$")
	for page, want := range map[string]int{"upgrade.md": 1, "data.md": 1} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		must(t, err)
		found := manifest.FindAllSubmatch(text, -1)
		if len(found) != want {
			t.Errorf("%s has %d manifests, not %d", page, len(found), want)
		}
		for _, m := range found {
			pod := decode[core.Pod](t, append(m[1], m[2]...))
			for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
				for _, mount := range c.VolumeMounts {
					if !slices.ContainsFunc(pod.Spec.Volumes, func(v core.Volume) bool { return v.Name == mount.Name }) {
						t.Errorf("%s: %s mounts %s, which is no volume", page, c.Name, mount.Name)
					}
				}
			}
		}
	}
}

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
