package answer_test

import (
	"encoding/json"
	"testing"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/topology"
)

// A window is chosen in the form, so that the one that is set does not stand in the way.
func TestAChangeWhoseArgumentsAreChosenInTheFormIsAlwaysOffered(t *testing.T) {
	tried := map[actions.Kind]bool{}
	o := &answer.Offers{Table: &topology.Table{Loaded: true, Balancer: topology.Balancer{Known: true, Mode: "full"}},
		Try: func(k actions.Kind, _ map[string]json.RawMessage) answer.Trial {
			tried[k] = true
			return answer.Trial{Why: "A check blocks it."}
		}}
	for _, offer := range o.Balancer() {
		if isWindow := offer.Text == "Set the window…"; (offer.URL != "") != isWindow {
			t.Errorf("%s leads to %q: %s", offer.Text, offer.URL, offer.Why)
		}
	}
	if !tried[actions.BalancerOff] || tried[actions.BalancerWindow] {
		t.Errorf("tried %v", tried)
	}
}
