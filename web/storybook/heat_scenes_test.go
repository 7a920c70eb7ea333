package storybook_test

import (
	"strings"
	"testing"

	"shardboard/web/storybook"
	"shardboard/web/webtest"
)

// sceneNamed is a scene of the storybook.
func sceneNamed(t *testing.T, name string) webtest.Scene {
	t.Helper()
	for _, sc := range storybook.All() {
		if sc.Name == name {
			return sc
		}
	}
	t.Fatalf("there is no scene %s", name)
	return webtest.Scene{}
}

func TestScenesHaveCountedWrites(t *testing.T) {
	for name, want := range map[string]string{
		"heat": "writes/s", "heat-minute": "writes/s", "heat-broken": "does not answer", "heat-refused": "find on yorkie-meta.changes",
		"chunk-counted": "writes/s", "map-counted": "data-map",
	} {
		if html := sceneNamed(t, name).Open(t); !strings.Contains(html, want) {
			t.Errorf("%s does not show %q", name, want)
		}
	}
}
