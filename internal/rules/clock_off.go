package rules

import (
	"time"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// ClockOff finds servers whose clocks differ from the others' by more than a minute, as their entries of the changelog
// show.
const ClockOff Rule = "clock-off"

var clockOff = rule{id: ClockOff, name: "Clock off", find: findClockOff,
	needs: []topology.Part{topology.PartEvents}, noPlaybook: "the clocks of the machines are set outside of MongoDB"}

// clockWindow is how long after its last entry a clock is still reported.
const clockWindow = 24 * time.Hour

func findClockOff(ev *evaluation) {
	for _, c := range ev.Table.ClocksOff(ev.Now.Add(-clockWindow)) {
		pattern := "The clock of {shard} is {off} ahead of the others, by its entries in the changelog."
		if c.Off < 0 {
			pattern = "The clock of {shard} is {off} behind the others, by its entries in the changelog."
		}
		ev.add(Problem{
			Subject:  c.Shard,
			Shard:    c.Shard,
			Severity: Info,
			Why: message.New("clock.why",
				"Times in logs of that server mislead. Its entries are shown in the order in which they were written."),
			Weight: c.Off.Abs().Minutes(),
			Text:   message.New("clock.off", pattern, message.Shard("shard", c.Shard), message.Duration("off", c.Off.Abs())),
			Evidence: []Evidence{timeFrom(message.New("clock.last", "Last such entry"), c.Last, "changelog",
				ev.Table.Health[topology.PartEvents].At)},
			Remedy: Remedy{WhyNot: message.New("clock.ntp", "Synchronise the clock of the machine, as with NTP.")},
		})
	}
}
