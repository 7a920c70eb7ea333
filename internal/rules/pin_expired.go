package rules

import (
	"maps"

	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// PinExpired finds pins whose end date has passed.
const PinExpired Rule = "pin-expired"

var pinExpired = rule{id: PinExpired, name: "Pin expired", page: PageZones, find: findPinExpired,
	needs: []topology.Part{topology.PartZones}, noPlaybook: "its plan is the whole answer: unpin, or leave it"}

func findPinExpired(ev *evaluation) {
	for _, zone := range natural.Sorted(maps.Keys(ev.rangesOf())) {
		id, pin, ok := placement.ZoneProject(zone)
		if !ok || !pin {
			continue
		}
		if ev.Pins == nil {
			ev.cannot(zone, message.New("noPlans",
				"Plans are not kept here, so the end date of the pin is not known."))
			continue
		}
		made, known := ev.Pins[id.Hex()]
		if !known {
			ev.cannot(zone, message.New("notOurs",
				"This pin was not made by a plan of shardboard, so its end date is not known.")) // made by hand, or its plan is forgotten
			continue
		}
		if made.Expires.IsZero() || ev.Now.Before(made.Expires) {
			continue
		}
		name, named := ev.project(id.Hex())
		if !named {
			name = id.Hex()
		}
		p := Problem{
			Subject:  zone,
			Project:  id.Hex(),
			Severity: Info,
			Why:      message.New("pin.over", "Its end date has passed."),
			Weight:   ev.Now.Sub(made.Expires).Hours(),
			Text: message.New("pin.expired",
				"The pin of the project {name} expired {since} ago.",
				message.Project("name", id.Hex(), name), message.Since("since", made.Expires)),
			Evidence: []Evidence{timeFrom(message.New("pin.expires", "End date"), made.Expires, "pinPlan", ev.Now)},
			Remedy: Remedy{Plans: []Plan{
				plan("unpin", message.New("unpin",
					"Unpin the project {name}.",
					message.Project("name", id.Hex(), name)), "project", id.Hex()),
			}},
		}
		if made.Owner != "" {
			p.Evidence = append(p.Evidence,
				textFrom(message.New("pin.owner", "Owner"), message.Text("value", made.Owner), "pinPlan", ev.Now))
		}
		ev.add(p)
	}
}
