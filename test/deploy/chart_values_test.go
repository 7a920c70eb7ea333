package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// least is the fewest values that the chart takes.
const least = `
cluster: {uriSecret: {name: board-uri}}
publicURL: https://board.example
tls: {proxyCIDRs: [10.0.0.0/8]}
`

func TestTheChartHasOneReplicaOnAVolumeByDefault(t *testing.T) {
	o := mustRender(t, least)
	if len(o.sets) != 1 || *o.sets[0].Spec.Replicas != 1 || len(o.services) != 2 || len(o.accounts) != 1 || len(o.policies) != 1 ||
		len(o.budgets) != 1 || len(o.ingresses)+len(o.monitors)+len(o.rules)+len(o.maps) != 0 {
		t.Fatalf("rendered\n%s", o.everything)
	}
	set := o.sets[0]
	var claims []string
	for _, c := range set.Spec.VolumeClaimTemplates {
		size := c.Spec.Resources.Requests[core.ResourceStorage]
		claims = append(claims, c.Name+" "+size.String())
	}
	if !slices.Equal(claims, []string{"data 1Gi", "keys 64Mi"}) {
		t.Errorf("volumes %v", claims)
	}
	env := environment(set.Spec.Template.Spec.Containers[0])
	for name, want := range map[string]string{
		"SHARDBOARD_URI_FILE": "/secrets/uri/uri", "SHARDBOARD_DATA_DIR": "/data/shardboard", "SHARDBOARD_ACTIONS": "off",
		"SHARDBOARD_TLS_TERMINATED_BY_PROXY": "true", "SHARDBOARD_PROXY_CIDR": "10.0.0.0/8", "SHARDBOARD_STORE_FILE": "",
		"SHARDBOARD_TLS_CERT": "", "SHARDBOARD_AUDIT_KEY_FROM": "", "SHARDBOARD_SESSION_KEY": "",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, not %q", name, env[name], want)
		}
	}
	if !strings.Contains(o.notes, "logs board-shardboard-0") {
		t.Errorf("notes:\n%s", o.notes)
	}
	if got := loadChart(t).Name(); got != "shardboard" {
		t.Errorf("the chart is named %q", got)
	}
}

func environment(c core.Container) map[string]string {
	out := map[string]string{}
	for _, e := range c.Env {
		if _, twice := out[e.Name]; twice {
			out[e.Name] = "twice"
			continue
		}
		out[e.Name] = e.Value
	}
	return out
}

// Whatever the values are.
func TestThePodHasNoRightsItDoesNotNeed(t *testing.T) {
	for _, values := range []string{least, everything, several} {
		pod := mustRender(t, values).sets[0].Spec.Template.Spec
		c := pod.Containers[0]
		s := c.SecurityContext
		switch {
		case *pod.AutomountServiceAccountToken || pod.HostNetwork || pod.HostPID:
			t.Error("the pod has a token or a namespace of the node")
		case !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser != 65532 || *pod.SecurityContext.FSGroup != 65532:
			t.Errorf("user %+v", pod.SecurityContext)
		case pod.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
			t.Errorf("seccomp %+v", pod.SecurityContext.SeccompProfile)
		case *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}):
			t.Errorf("container %+v", s)
		case len(s.Capabilities.Add) > 0 || len(pod.Containers) != 1 || len(pod.InitContainers) != 0:
			t.Error("there is more than the one container")
		case c.Resources.Requests.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero():
			t.Errorf("resources %+v", c.Resources)
		}
		checkMounts(t, pod)
		checkPorts(t, c)
	}
}

// checkMounts: every file that the environment names is below a mount, every mount has its volume, and secrets are
// readable for root and the pod's group only, as docs/data.md wants.
func checkMounts(t *testing.T, pod core.PodSpec) {
	t.Helper()
	volumes := map[string]bool{"data": true, "keys": true}
	for _, v := range pod.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && (v.Name == "config" || strings.HasPrefix(v.Name, "profile-")) {
			continue // it has no secrets
		}
		if v.Secret == nil || *v.Secret.DefaultMode != 0o440 {
			t.Errorf("volume %s: %+v", v.Name, v.VolumeSource)
		}
	}
	c := pod.Containers[0]
	for name, value := range environment(c) {
		if !strings.HasPrefix(value, "/") {
			continue
		}
		if !slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return strings.HasPrefix(value, m.MountPath+"/") }) {
			t.Errorf("%s=%s is in no volume", name, value)
		}
	}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] {
			t.Errorf("%s is mounted and does not exist", m.Name)
		}
		if strings.HasPrefix(m.MountPath, "/secrets") && !m.ReadOnly {
			t.Errorf("%s can be written to", m.MountPath)
		}
	}
}

func checkPorts(t *testing.T, c core.Container) {
	t.Helper()
	for kind, p := range map[string]*core.Probe{"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
		want := map[string]string{"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}[kind]
		if p == nil || p.HTTPGet.Path != want || p.HTTPGet.Port.String() != "operations" {
			t.Errorf("%s probe %+v", kind, p)
		}
	}
	if len(c.Ports) != 2 || c.Ports[0].ContainerPort != 8090 || c.Ports[1].ContainerPort != 8091 {
		t.Errorf("ports %+v", c.Ports)
	}
}

// everything sets all that can be set.
const everything = `
nameOverride: board
image: {repository: "registry.example:5000/ops/shardboard", tag: v1.2.3, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
imagePullSecrets: [{name: pull}]
replicas: 3
cluster: {uriSecret: {name: board-uri, key: address}}
store: {uriSecret: {name: board-store}}
audit: {keySecret: {name: board-audit, key: key.pem}}
sessions: {keySecret: {name: board-sessions, key: seal.pem}}
publicURL: https://board.example:8443
tls: {secretName: board-tls, proxyCIDRs: [10.0.0.0/8, "fd00::/8"]}
actions: "on"
auth: {mode: "local,oidc", oidc: {issuer: "https://id.example", clientID: board, clientSecret: {name: board-oidc}, roles: {dba: admin, staff: viewer}}}
settings: {SHARDBOARD_HIDE_BOUNDS: true, SHARDBOARD_MAINTENANCE_WINDOW: "Mon-Fri 01:00-05:00 Europe/Berlin", SHARDBOARD_PROJECT_SIZES_PER_MINUTE: 600}
persistence: {storageClassName: fast, size: 5Gi, keysSize: 1Gi}
service: {type: LoadBalancer, port: 443, annotations: {a: b}}
ingress: {enabled: true, className: nginx, tlsSecretName: board-tls, annotations: {nginx.ingress.kubernetes.io/backend-protocol: HTTPS}}
serviceAccount: {name: board}
maxConnections: 5000
networkPolicy:
  ingressFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
  egressTo: [{podSelector: {matchLabels: {app.kubernetes.io/component: mongos}}}]
podDisruptionBudget: {maxUnavailable: 2}
serviceMonitor: {enabled: true, labels: {release: prometheus}}
prometheusRule: {enabled: true}
dashboard: {enabled: true}
podAnnotations: {x: "1"}
podLabels: {team: "2"}
nodeSelector: {disk: ssd}
tolerations: [{key: ops, operator: Exists}]
affinity: {podAntiAffinity: {}}
topologySpreadConstraints: []
priorityClassName: high
`

func TestEveryValueHasItsEffect(t *testing.T) {
	o := mustRender(t, everything)
	set := o.sets[0]
	pod := set.Spec.Template.Spec
	env := environment(pod.Containers[0])
	for name, want := range map[string]string{
		"SHARDBOARD_URI_FILE": "/secrets/uri/address", "SHARDBOARD_STORE_FILE": "/secrets/store/uri",
		"SHARDBOARD_AUDIT_KEY_FROM": "/secrets/audit/key.pem", "SHARDBOARD_AUDIT_KEY": "/keys/shardboard/audit.key",
		"SHARDBOARD_SESSION_KEY":             "/secrets/sessions/seal.pem",
		"SHARDBOARD_TLS_CERT":                "/secrets/tls/tls.crt",
		"SHARDBOARD_TLS_TERMINATED_BY_PROXY": "", "SHARDBOARD_PROXY_CIDR": "10.0.0.0/8,fd00::/8", "SHARDBOARD_ACTIONS": "on",
		"SHARDBOARD_AUTH": "local,oidc", "SHARDBOARD_OIDC_ROLE_MAP": "dba=admin;staff=viewer", "SHARDBOARD_OIDC_ISSUER": "https://id.example",
		"SHARDBOARD_OIDC_CLIENT_SECRET_FILE": "/secrets/oidc/client-secret", "SHARDBOARD_HIDE_BOUNDS": "true",
		"SHARDBOARD_MAX_CONNECTIONS":    "5000",
		"SHARDBOARD_MAINTENANCE_WINDOW": "Mon-Fri 01:00-05:00 Europe/Berlin", "SHARDBOARD_PROJECT_SIZES_PER_MINUTE": "600",
		"SHARDBOARD_PUBLIC_URL": "https://board.example:8443",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, not %q", name, env[name], want)
		}
	}
	image := "registry.example:5000/ops/shardboard@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for what, got := range map[string]bool{
		"replicas":         *set.Spec.Replicas == 3,
		"image":            pod.Containers[0].Image == image,
		"pull secret":      pod.ImagePullSecrets[0].Name == "pull",
		"class":            *set.Spec.VolumeClaimTemplates[0].Spec.StorageClassName == "fast",
		"account":          pod.ServiceAccountName == "board" && len(o.accounts) == 0,
		"spread":           len(pod.TopologySpreadConstraints) == 0,
		"priority":         pod.PriorityClassName == "high",
		"node":             pod.NodeSelector["disk"] == "ssd" && pod.Tolerations[0].Key == "ops" && pod.Affinity.PodAntiAffinity != nil,
		"labels":           set.Spec.Template.Labels["team"] == "2" && set.Spec.Template.Annotations["x"] == "1",
		"service":          o.services[0].Spec.Type == core.ServiceTypeLoadBalancer && o.services[0].Spec.Ports[0].Port == 443,
		"budget":           o.budgets[0].Spec.MaxUnavailable.IntValue() == 2,
		"ingress":          o.ingresses[0].Spec.Rules[0].Host == "board.example" && o.ingresses[0].Spec.TLS[0].SecretName == "board-tls",
		"class of ingress": *o.ingresses[0].Spec.IngressClassName == "nginx",
		"who opens pages":  o.policies[0].Spec.Ingress[0].From[0].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] == "ingress-nginx",
		"egress":           len(o.policies[0].Spec.Egress) == 2 && len(o.policies[0].Spec.Egress[1].To) == 1,
		"rules":            len(o.rules[0].Spec.Groups) > 0 && len(o.rules[0].Spec.Groups[0].Rules) > 0,
		"runbooks": strings.HasPrefix(o.rules[0].Spec.Groups[0].Rules[0].Annotations["runbook_url"], "https://board.example:8443/runbooks/") &&
			!strings.Contains(o.everything, "shardboard.example"),
		"board":   strings.HasPrefix(o.maps[0].Data["shardboard.json"], "{"),
		"monitor": o.monitors[0].Labels["release"] == "prometheus" && o.monitors[0].Spec.Endpoints[0].Path == "/metrics",
	} {
		if !got {
			t.Errorf("%s was not taken:\n%s", what, o.everything)
		}
	}
}

// The services, the budget, the policy and the monitor have to find the pods.
func TestSelectorsMatchThePods(t *testing.T) {
	for _, values := range []string{least, everything} {
		o := mustRender(t, values)
		labels := o.sets[0].Spec.Template.Labels
		selects := func(what string, selector map[string]string, labels map[string]string) {
			for name, value := range selector {
				if len(selector) == 0 || labels[name] != value {
					t.Errorf("%s selects %s=%s, which %v has not", what, name, value, labels)
				}
			}
		}
		selects("the set", o.sets[0].Spec.Selector.MatchLabels, labels)
		selects("the budget", o.budgets[0].Spec.Selector.MatchLabels, labels)
		selects("the policy", o.policies[0].Spec.PodSelector.MatchLabels, labels)
		for _, s := range o.services {
			selects(s.Name, s.Spec.Selector, labels)
		}
		if o.sets[0].Spec.ServiceName != o.services[1].Name {
			t.Errorf("the set names the service %s", o.sets[0].Spec.ServiceName)
		}
		for _, m := range o.monitors {
			selects("the monitor", m.Spec.Selector.MatchLabels, o.services[1].Labels)
			if m.Spec.Endpoints[0].Port != o.services[1].Spec.Ports[0].Name {
				t.Errorf("the monitor asks port %s", m.Spec.Endpoints[0].Port)
			}
		}
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ values, want string }{
		"nothing":                   {"{}", "uriSecret"},
		"no cluster":                {"publicURL: https://board.example\ntls: {secretName: x}", "uriSecret"},
		"no address":                {"cluster: {uriSecret: {name: x}}\ntls: {secretName: x}", "publicURL"},
		"address without TLS":       {with("publicURL: http://board.example"), "publicURL"},
		"address with a query":      {with("publicURL: https://board.example/board?a"), "publicURL"},
		"a route without a gateway": {with("httpRoute: {enabled: true}"), "httpRoute.parentRefs"},
		"a path type that is none":  {with("ingress: {pathType: Regex}"), "pathType"},
		"a host with a path":        {with("ingress: {hosts: [{host: a/b}]}"), "host"},
		"a timeout without a unit":  {with("serviceMonitor: {scrapeTimeout: 5}"), "scrapeTimeout"},
		"a variable without a name": {with("extraEnv: [{value: a}]"), "extraEnv"},
		"one claim for two replicas": {with("replicas: 2\nstore: {uriSecret: {name: x}}\naudit: {keySecret: {name: k}}\n" +
			"sessions: {keySecret: {name: z}}\npersistence: {existingClaim: old}"), "existingClaim"},
		"TLS by nobody":                 {"cluster: {uriSecret: {name: x}}\npublicURL: https://board.example", "proxyCIDRs"},
		"two replicas without a store":  {with("replicas: 2"), "uriSecret"},
		"two replicas with two keys":    {with("replicas: 2\nstore: {uriSecret: {name: x}}"), "audit"},
		"a store without a session key": {with("store: {uriSecret: {name: x}}"), "sessions"},
		"no replica":                    {with("replicas: 0"), "replicas"},
		"a typing mistake":              {with("replica: 2"), "replica"},
		"a password in the settings":    {with("settings: {SHARDBOARD_URI: mongodb://u:p@h}"), "settings"},
		"a setting that is none":        {with("settings: {PATH: /bin}"), "PATH"},
		"a role that is none":           {with("auth: {mode: oidc, oidc: {issuer: https://id.example, clientID: b, roles: {a: root}}}"), "roles"},
		"oidc without an issuer":        {with("auth: {mode: oidc}"), "issuer"},
		"no sign-in":                    {with("auth: {mode: none}"), "mode"},
		"a digest that is none":         {with("image: {digest: sha256:abc}"), "digest"},
		"an image with its tag":         {with("image: {repository: shardboard:v1}"), "repository"},
		"actions as a boolean":          {with("actions: true"), "actions"},
		"a network that is none":        {with("tls: {proxyCIDRs: [everybody]}"), "proxyCIDRs"},
		"a size without unit":           {with("persistence: {size: 5}"), "size"},
		"a secret's name with a slash":  {with("tls: {secretName: a/b}"), "secretName"},
		"too few connections":           {with("maxConnections: 10"), "maxConnections"},
		"less time to end than it has":  {with("terminationGracePeriodSeconds: 1"), "terminationGracePeriodSeconds"},
		"a label that is not a string":  {with("podLabels: {a: [1]}"), "podLabels"},
		"an interval without a unit":    {with("serviceMonitor: {interval: 30}"), "interval"},
		"a port that is out of range":   {with("service: {port: 70000}"), "port"},
		"nobody may be away":            {with("podDisruptionBudget: {maxUnavailable: 0}"), "maxUnavailable"},
		"a cluster and clusters":        {with(`clusters: [{name: a, uriSecret: {name: x}}]`), "uriSecret"},
		"a cluster without its secret":  {strings.Replace(several, "uriSecret: {name: prod-uri, key: address}, ", "", 1), "uriSecret"},
		"two clusters of one name":      {strings.Replace(several, "name: eu-west-1,", "name: prod,", 1), "two with the name prod"},
		"a cluster's name with a space": {strings.Replace(several, "name: prod,", `name: "pr od",`, 1), "clusters"},
		"a password of a cluster":       {strings.Replace(several, "title: Production", "uri: mongodb://u:p@h/", 1), "uri"},
		"a role on a cluster":           {strings.Replace(several, "everyone: none", "everyone: root", 1), "everyone"},
		"roles of nobody":               {strings.Replace(several, "everyone: none", "anna: viewer", 1), "anna"},
		"a pull policy that is unknown": {with("image: {pullPolicy: Sometimes}"), "pullPolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := render(t, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want an error that names %s", err, c.want)
			}
		})
	}
}

// with adds a line to the fewest values, or replaces one.
func with(line string) string {
	key, _, _ := strings.Cut(line, ":")
	var out []string
	for l := range strings.Lines(least) {
		if !strings.HasPrefix(l, key+":") {
			out = append(out, strings.TrimSpace(l))
		}
	}
	return strings.Join(append(out, line), "\n")
}

// Every value is in the schema, with a comment in values.yaml, and is used.
func TestNoValueIsForgotten(t *testing.T) {
	c := loadChart(t)
	var templates strings.Builder
	for _, f := range c.Templates {
		templates.Write(f.Data)
	}
	for name := range c.Values {
		if !strings.Contains(string(c.Schema), fmt.Sprintf("%q: {", name)) {
			t.Errorf("%s is not in the schema", name)
		}
		if !strings.Contains(templates.String(), ".Values."+name) {
			t.Errorf("no template uses %s", name)
		}
	}
	for _, m := range regexp.MustCompile(`\.Values\.(\w+)`).FindAllStringSubmatch(templates.String(), -1) {
		if _, ok := c.Values[m[1]]; !ok && !strings.HasSuffix(m[1], "Override") {
			t.Errorf("a template uses %s, which values.yaml does not have", m[1])
		}
	}
}

// Boards and rules have one place in the repository. The chart's copies, which Helm can only take from its own folder,
// are the same.
func TestTheChartHasTheBoardsAndRulesOfTheRepository(t *testing.T) {
	for of, pattern := range map[string]string{"grafana": "*.json", "prometheus": "rules*.yaml"} {
		theirs, err := filepath.Glob(filepath.Join("../../deploy", of, pattern))
		must(t, err)
		copies, err := filepath.Glob(filepath.Join(chartDir, "files", of, pattern))
		must(t, err)
		if len(theirs) == 0 || len(theirs) != len(copies) {
			t.Errorf("deploy/%s has %d files, the chart %d: run scripts/chart-files", of, len(theirs), len(copies))
		}
		for _, path := range theirs {
			want, err := os.ReadFile(path)
			must(t, err)
			got, err := os.ReadFile(filepath.Join(chartDir, "files", of, filepath.Base(path)))
			if err != nil || string(got) != string(want) {
				t.Errorf("%s is not the chart's: run scripts/chart-files (%v)", path, err)
			}
		}
	}
}
