package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
)

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
