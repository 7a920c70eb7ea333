package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

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
