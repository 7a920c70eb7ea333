package cluster

import "testing"

func TestVersionThatCannotBeReadIsNoRelease(t *testing.T) {
	for text, want := range map[string]version{
		"4.4.29": {4, 4, 29}, "8.0.0-rc1": {8, 0, 0}, "9.0": {9, 0, 0}, "7.1.0-alpha.3": {7, 1, 0}, "5.0.x": {5, 0, 0},
	} {
		if v, ok := parseVersion(text); !ok || v != want {
			t.Errorf("%q: got %v, %t, want %v", text, v, ok, want)
		}
	}
	for _, text := range []string{"", "none", "x.0.1", "8.y.0", "0.0.0", "-8.0.1", " 8.0.1", "8."} {
		if v, ok := parseVersion(text); ok || v != (version{}) {
			t.Errorf("%q: got %v, %t, want no release", text, v, ok)
		}
	}
}
