package deploy_test

import (
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

// home is a set of values that people use, and what has to come of it.
type home struct {
	values string
	check  func(o objects, pod core.PodSpec) map[string]bool
}

const issuer = "auth: {mode: oidc, oidc: {issuer: https://id.example, clientID: board, roles: {dba: admin}, "

var homes = map[string]home{
	"the least": {"", func(o objects, pod core.PodSpec) map[string]bool {
		return map[string]bool{"arguments": slices.Equal(pod.Containers[0].Args, []string{"serve"}),
			"nobody else reads metrics": len(metricsFrom(o)) == 1}
	}},
	"OpenShift's restricted-v2": {
		"podSecurityContext: {runAsUser: null, runAsGroup: null, fsGroup: null, fsGroupChangePolicy: null}",
		func(_ objects, pod core.PodSpec) map[string]bool {
			s := pod.SecurityContext
			return map[string]bool{"user": s.RunAsUser == nil && s.RunAsGroup == nil, "group": s.FSGroup == nil && s.FSGroupChangePolicy == nil,
				"the rest stays": *s.RunAsNonRoot && s.SeccompProfile != nil && *pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem}
		},
	},
	"no security contexts": {"podSecurityContext: null\ncontainerSecurityContext: null", func(_ objects, pod core.PodSpec) map[string]bool {
		return map[string]bool{"pod": pod.SecurityContext == nil, "container": pod.Containers[0].SecurityContext == nil}
	}},
	"an issuer of a company, its authority in a ConfigMap": {issuer + "ca: {configMap: company-ca, key: ca.pem}}}",
		func(_ objects, pod core.PodSpec) map[string]bool {
			return map[string]bool{"file": environment(pod.Containers[0])["SHARDBOARD_OIDC_CA_FILE"] == "/oidc-ca/ca.pem",
				"volume": volume(pod, "oidc-ca").ConfigMap.Name == "company-ca"}
		}},
	"an issuer of a company, its authority in a secret": {issuer + "ca: {secret: company-ca}}}",
		func(_ objects, pod core.PodSpec) map[string]bool {
			return map[string]bool{"volume": volume(pod, "oidc-ca").Secret.SecretName == "company-ca"}
		}},
	"a proxy beside it that signs people in": {`
auth: {mode: proxy}
settings: {SHARDBOARD_PROXY_HEADER: X-Auth-Request-User}
extraContainers: [{name: oauth2-proxy, image: "registry.example/oauth2-proxy:v7", ports: [{name: proxy, containerPort: 4180}]}]`,
		func(_ objects, pod core.PodSpec) map[string]bool {
			return map[string]bool{"two containers": len(pod.Containers) == 2 && pod.Containers[1].Name == "oauth2-proxy"}
		}},
	"outside proxies and files of one's own": {`
extraEnv: [{name: HTTPS_PROXY, valueFrom: {secretKeyRef: {name: proxy, key: url}}}, {name: NO_PROXY, value: .svc}]
envFrom: [{configMapRef: {name: board-env}}]
extraVolumes: [{name: leaked, persistentVolumeClaim: {claimName: leaked}}]
extraVolumeMounts: [{name: leaked, mountPath: /leaked, readOnly: true}]
settings: {SHARDBOARD_LEAKED_PASSWORDS: /leaked/sha1.txt}`,
		func(_ objects, pod core.PodSpec) map[string]bool {
			c := pod.Containers[0]
			env := c.Env[slices.IndexFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "HTTPS_PROXY" })]
			return map[string]bool{"variable": env.ValueFrom.SecretKeyRef.Name == "proxy", "source": c.EnvFrom[0].ConfigMapRef.Name == "board-env",
				"volume": volume(pod, "leaked").PersistentVolumeClaim.ClaimName == "leaked" &&
					slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool { return m.MountPath == "/leaked" })}
		}},
	"volumes that exist": {"persistence: {existingClaim: old-data, existingKeysClaim: old-keys}",
		func(o objects, pod core.PodSpec) map[string]bool {
			return map[string]bool{"no new ones": len(o.sets[0].Spec.VolumeClaimTemplates) == 0,
				"data": volume(pod, "data").PersistentVolumeClaim.ClaimName == "old-data",
				"keys": volume(pod, "keys").PersistentVolumeClaim.ClaimName == "old-keys"}
		}},
	"one volume that exists": {"persistence: {existingClaim: old-data}", func(o objects, pod core.PodSpec) map[string]bool {
		claims := o.sets[0].Spec.VolumeClaimTemplates
		return map[string]bool{"data": volume(pod, "data").PersistentVolumeClaim.ClaimName == "old-data",
			"keys": len(claims) == 1 && claims[0].Name == "keys"}
	}},
	"an ingress with several hosts, below a path": {`
publicURL: https://board.example/tools/board
ingress: {enabled: true, className: traefik, pathType: ImplementationSpecific, tlsSecretName: a, hosts: [{host: b.example, tlsSecretName: c}, {host: d.example}]}`,
		func(o objects, pod core.PodSpec) map[string]bool {
			spec := o.ingresses[0].Spec
			right := len(spec.Rules) == 3 && len(spec.TLS) == 3 && spec.TLS[1].SecretName == "c" && *spec.IngressClassName == "traefik"
			for _, rule := range spec.Rules {
				path := rule.HTTP.Paths[0]
				right = right && path.Path == "/tools/board" && *path.PathType == "ImplementationSpecific"
			}
			return map[string]bool{"ingress": right && spec.Rules[0].Host == "board.example" && spec.Rules[2].Host == "d.example",
				"hosts": slices.Equal(pod.Containers[0].Args, []string{"serve", "--host=b.example", "--host=d.example"})}
		}},
	"a gateway": {`
publicURL: https://board.example/board
httpRoute: {enabled: true, parentRefs: [{name: public, namespace: gateways, sectionName: https}], hostnames: [b.example]}`,
		func(o objects, pod core.PodSpec) map[string]bool {
			spec := o.routes[0].Spec
			return map[string]bool{"hosts": len(spec.Hostnames) == 2 && spec.Hostnames[0] == "board.example",
				"path": *spec.Rules[0].Matches[0].Path.Value == "/board", "gateway": spec.ParentRefs[0].Name == "public",
				"service":   string(spec.Rules[0].BackendRefs[0].Name) == o.services[0].Name && int(*spec.Rules[0].BackendRefs[0].Port) == 80,
				"arguments": slices.Contains(pod.Containers[0].Args, "--host=b.example")}
		}},
	"the Prometheus operator in another namespace": {`
serviceMonitor: {enabled: true, namespace: monitoring, labels: {release: kube-prometheus}, interval: 60s, scrapeTimeout: 20s,
  relabelings: [{targetLabel: team, replacement: dba}], metricRelabelings: [{action: drop, regex: go_.*, sourceLabels: [__name__]}]}`,
		func(o objects, _ core.PodSpec) map[string]bool {
			m := o.monitors[0]
			e := m.Spec.Endpoints[0]
			from := metricsFrom(o)
			return map[string]bool{"namespace": m.Namespace == "monitoring" && m.Spec.NamespaceSelector.MatchNames[0] == "yorkie",
				"times":       e.Interval == "60s" && e.ScrapeTimeout == "20s",
				"relabelings": e.RelabelConfigs[0].TargetLabel == "team" && e.MetricRelabelConfigs[0].Action == "drop",
				"the policy lets it in": len(from) == 2 && from[1].NamespaceSelector != nil &&
					from[1].PodSelector.MatchLabels["app.kubernetes.io/name"] == "prometheus"}
		}},
	"metrics with TLS and a token": {`
serviceMonitor: {enabled: true, endpoint: {scheme: https, authorization: {credentials: {name: board-metrics, key: token}}, tlsConfig: {insecureSkipVerify: true}}}
networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
extraVolumes: [{name: ops, secret: {secretName: board-ops, defaultMode: 0440}}]
extraVolumeMounts: [{name: ops, mountPath: /secrets/ops, readOnly: true}]
settings: {SHARDBOARD_OPS_TLS_CERT: /secrets/ops/tls.crt, SHARDBOARD_OPS_TLS_KEY: /secrets/ops/tls.key, SHARDBOARD_OPS_TOKEN_FILE: /secrets/ops/token}`,
		func(o objects, pod core.PodSpec) map[string]bool {
			e := o.monitors[0].Spec.Endpoints[0]
			return map[string]bool{"probes": pod.Containers[0].ReadinessProbe.HTTPGet.Scheme == core.URISchemeHTTPS,
				"token": e.Authorization.Credentials.Name == "board-metrics", "only who is named": len(metricsFrom(o)) == 1}
		}},
}

// Each is decoded strictly into Kubernetes' types and has what was asked for.
func TestTheChartFitsWherePeopleRunIt(t *testing.T) {
	if len(homes) < 12 {
		t.Errorf("%d sets of values", len(homes))
	}
	for name, h := range homes {
		t.Run(name, func(t *testing.T) {
			values := least + h.values
			if strings.Contains(h.values, "publicURL:") {
				values = strings.Replace(values, "publicURL: https://board.example\n", "", 1)
			}
			o := mustRender(t, values)
			pod := o.sets[0].Spec.Template.Spec
			checkPorts(t, pod.Containers[0])
			checkNames(t, o)
			for what, right := range h.check(o, pod) {
				if !right {
					t.Errorf("%s: not as asked for in\n%s", what, o.everything)
				}
			}
		})
	}
}

func volume(pod core.PodSpec, name string) core.Volume {
	for _, v := range pod.Volumes {
		if v.Name == name {
			return v
		}
	}
	return core.Volume{VolumeSource: core.VolumeSource{Secret: &core.SecretVolumeSource{}, ConfigMap: &core.ConfigMapVolumeSource{},
		PersistentVolumeClaim: &core.PersistentVolumeClaimVolumeSource{}}}
}

// metricsFrom are the peers that may read metrics.
func metricsFrom(o objects) (from []networking.NetworkPolicyPeer) {
	return o.policies[0].Spec.Ingress[1].From
}

// several has clusters instead of one.
const several = `
clusters:
  - {name: prod, title: Production, uriSecret: {name: prod-uri, key: address}, actions: "on", maintenanceWindow: ["Mon-Fri 01:00-05:00 Europe/Berlin"],
    hideBounds: false, projectSizesPerMinute: 0, roles: {everyone: none, "role:admin": same, "group:sre": operator, "user:anna": operator},
    alertsSecret: {name: prod-alerts}, profileConfigMap: {name: layouts, key: prod.yaml}}
  - {name: eu-west-1, uriSecret: {name: eu-uri}}
publicURL: https://board.example
tls: {proxyCIDRs: [10.0.0.0/8]}
podAnnotations: {a: b}
`

func TestSeveralClustersAreAConfigurationFileAndASecretEach(t *testing.T) {
	o := mustRender(t, several)
	if len(o.maps) != 1 || len(o.sets) != 1 {
		t.Fatalf("rendered\n%s", o.everything)
	}
	var file, want any
	must(t, yaml.UnmarshalStrict([]byte(o.maps[0].Data["shardboard.yaml"]), &file))
	// The file's keys are those of docs/config.md. 0 and false are settings, not the absence of one.
	if err := yaml.Unmarshal([]byte(`
clusters:
  - {name: prod, title: Production, uri-file: /secrets/clusters/prod/address, actions: "on", maintenance-window: ["Mon-Fri 01:00-05:00 Europe/Berlin"],
    hide-bounds: false, project-sizes-per-minute: 0, roles: {everyone: none, "role:admin": same, "group:sre": operator, "user:anna": operator},
    alerts: /secrets/alerts/prod/alerts.yaml, profile: /profiles/prod/prod.yaml}
  - {name: eu-west-1, uri-file: /secrets/clusters/eu-west-1/uri}
`), &want); err != nil {
		t.Fatal(err)
	}
	got, _ := yaml.Marshal(file)
	if wanted, _ := yaml.Marshal(want); string(got) != string(wanted) {
		t.Errorf("%s, want\n%s", got, wanted)
	}
	pod := o.sets[0].Spec.Template
	env := environment(pod.Spec.Containers[0])
	if env["SHARDBOARD_CONFIG"] != "/config/shardboard.yaml" || env["SHARDBOARD_URI_FILE"] != "" {
		t.Errorf("%v", env)
	}
	var secrets []string
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			secrets = append(secrets, v.Name+" "+v.Secret.SecretName)
		}
	}
	if !slices.Equal(secrets, []string{"uri-prod prod-uri", "alerts-prod prod-alerts", "uri-eu-west-1 eu-uri"}) {
		t.Errorf("%v", secrets)
	}
	other := mustRender(t, strings.Replace(several, "user:anna", "user:bert", 1)).sets[0].Spec.Template
	if pod.Annotations["shardboard/clusters"] == other.Annotations["shardboard/clusters"] || pod.Annotations["a"] != "b" {
		t.Errorf("a change of the file starts no pod anew: %v", pod.Annotations)
	}
}

func TestFilesOfTheConfigurationAreWhereItNamesThem(t *testing.T) {
	for name, c := range map[string]struct {
		values string
		env    map[string]string
		mounts []string // volume, what holds it, where it is
	}{
		"several": {several, map[string]string{"SHARDBOARD_CONFIG": "/config/shardboard.yaml"}, []string{
			"config board-shardboard-clusters /config", "uri-prod prod-uri /secrets/clusters/prod", "alerts-prod prod-alerts /secrets/alerts/prod",
			"profile-prod layouts /profiles/prod", "uri-eu-west-1 eu-uri /secrets/clusters/eu-west-1"}},
		"one": {strings.Replace(least, "board-uri}", "board-uri}, alertsSecret: {name: receivers}, profileConfigMap: {name: layout}", 1),
			map[string]string{"SHARDBOARD_CONFIG": "", "SHARDBOARD_URI_FILE": "/secrets/uri/uri",
				"SHARDBOARD_ALERTS": "/secrets/alerts/one/alerts.yaml", "SHARDBOARD_PROFILE": "/profiles/one/profile.yaml"}, []string{
				"uri board-uri /secrets/uri", "alerts-one receivers /secrets/alerts/one", "profile-one layout /profiles/one"}},
		"a file in a ConfigMap": {ownFile("configMap: board-config, secrets: [prod-uri, eu-uri]"),
			map[string]string{"SHARDBOARD_CONFIG": "/config/shardboard.yaml", "SHARDBOARD_URI_FILE": ""}, []string{
				"config board-config /config", "config-0 prod-uri /secrets/config/prod-uri", "config-1 eu-uri /secrets/config/eu-uri"}},
		"a file in a secret": {ownFile("secret: board-config, key: all.yaml"), map[string]string{"SHARDBOARD_CONFIG": "/config/all.yaml"},
			[]string{"config board-config /config"}},
	} {
		o := mustRender(t, c.values)
		pod := o.sets[0].Spec.Template.Spec
		env := environment(pod.Containers[0])
		for key, want := range c.env {
			if env[key] != want {
				t.Errorf("%s: %s is %q, not %q", name, key, env[key], want)
			}
		}
		holds := map[string]string{}
		for _, v := range pod.Volumes {
			switch {
			case v.Secret != nil && *v.Secret.DefaultMode == 0o440:
				holds[v.Name] = v.Secret.SecretName
			case v.ConfigMap != nil:
				holds[v.Name] = v.ConfigMap.Name
			}
		}
		var mounts []string
		for _, m := range pod.Containers[0].VolumeMounts {
			if m.Name != "data" && m.Name != "keys" {
				mounts = append(mounts, m.Name+" "+holds[m.Name]+" "+m.MountPath)
				if !m.ReadOnly {
					t.Errorf("%s: %s can be written", name, m.Name)
				}
			}
		}
		if !slices.Equal(mounts, c.mounts) {
			t.Errorf("%s: %q, want %q", name, mounts, c.mounts)
		}
	}
}

// ownFile are values with a configuration file that exists.
func ownFile(config string) string {
	return "configFile: {" + config + "}\npublicURL: https://board.example\ntls: {proxyCIDRs: [10.0.0.0/8]}\n"
}

func TestTheClustersComeFromOnePlace(t *testing.T) {
	for name, values := range map[string]string{
		"two files":                ownFile("configMap: a, secret: b"),
		"a file and a cluster":     ownFile("configMap: a") + "cluster: {uriSecret: {name: board-uri}}\n",
		"a file and clusters":      several + "configFile: {secret: a}\n",
		"neither":                  "publicURL: https://board.example\ntls: {proxyCIDRs: [10.0.0.0/8]}\n",
		"alerts without a name":    strings.Replace(several, "{name: prod-alerts}", "{key: a}", 1),
		"an unknown kind of entry": strings.Replace(several, "group:sre", "groups:sre", 1),
	} {
		if _, err := render(t, values); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	// Groups can have their roles on clusters alone.
	oidc := "auth: {mode: oidc, oidc: {issuer: 'https://issuer.example', clientID: board}}\n"
	if env := environment(mustRender(t, several+oidc).sets[0].Spec.Template.Spec.Containers[0]); env["SHARDBOARD_OIDC_ISSUER"] == "" ||
		env["SHARDBOARD_OIDC_ROLE_MAP"] != "" {
		t.Errorf("%v", env)
	}
	if _, err := render(t, least+oidc); err == nil {
		t.Error("one cluster, and nobody has a role")
	}
}
