package deploy_test

import (
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
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
