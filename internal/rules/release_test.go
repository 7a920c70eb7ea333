package rules

import "testing"

// A remedy that depends on the release is not that of an old one where the release is not known.
func TestUnknownReleaseGivesNoRemedyOfAnOldOne(t *testing.T) {
	for version, want := range map[string]string{"": "remedy.noRelease", "x.1": "remedy.noRelease", "4.4.2": "blocked.allow", "9.0.0": ""} {
		s := healthy(func(s *Situation) { s.Table.ServerInfo.Version = version })
		r := (&evaluation{Situation: s}).allowMoves("y.documents")
		if r.WhyNot.Code != want || len(r.Plans) > 0 != (version == "9.0.0") {
			t.Errorf("%q: got %q and %d plans, want %q", version, r.WhyNot.Code, len(r.Plans), want)
		}
	}
}
