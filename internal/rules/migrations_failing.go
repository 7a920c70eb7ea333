package rules

import (
	"cmp"
	"strings"
	"time"

	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

const (
	// failingWindow is the time in which failed migrations are counted, and
	// failingMany from how many on they are more than a lost race now and then.
	failingWindow = time.Hour
	failingMany   = 3
)

// MigrationsFailing finds several failed migrations within an hour.
const MigrationsFailing Rule = "migrations-failing"

var migrationsFailing = rule{id: MigrationsFailing, name: "Moves keep failing", page: PageFailedMigrations, find: findMigrationsFailing,
	needs: []topology.Part{topology.PartEvents}, playbooks: []Playbook{PlaybookDuplicateID, PlaybookBalancerFights}}

func findMigrationsFailing(ev *evaluation) {
	lately := MovesLately(ev.Table, ev.Now)
	if lately.Failed < failingMany {
		return
	}
	perHour := float64(lately.Failed) / lately.Over.Hours()
	read := ev.Table.Health[topology.PartEvents].At
	number := func(name message.Message, n int) Evidence {
		return Evidence{
			Name:    name,
			Unit:    "count",
			Known:   true,
			Value:   float64(n),
			Exact:   true,
			Method:  "migrationLog",
			At:      read,
			Over:    lately.Over,
			Covered: lately.Over,
		}
	}
	p := Problem{
		Subject:  "migrations",
		Severity: Info,
		Why:      message.New("failing.some", "Most moves succeed."),
		Weight:   perHour,
		Evidence: []Evidence{
			{Name: message.New("failing.rate", "Failure rate"), Unit: "perHour", Known: true, Value: perHour, Exact: true,
				Method: "migrationLog", At: read, Over: lately.Over, Covered: lately.Over},
			number(message.New("failing.failed", "Failed"), lately.Failed),
			number(message.New("failing.moved", "Succeeded"), lately.Moves),
			timeFrom(message.New("failing.last", "Last failure"), lately.LastFailure, "migrationLog", read),
		},
	}
	switch {
	case lately.Failed >= lately.Moves:
		p.Severity, p.Why = Warn, message.New("failing.most",
			"At least as many moves fail as succeed, so data does not get where it should be.")
	case lately.InARow >= failingMany:
		p.Severity, p.Why = Warn, message.New("failing.row", "The newest {n} moves all failed, so data does not get where it should be.",
			message.Count("n", lately.InARow))
	}
	p.Shard = cmp.Or(lately.To, lately.From)
	first, facts := failingText(lately)
	p.Text = message.New("failing", first+".", facts...)
	if len(lately.Groups) > 0 {
		top := lately.Groups[0]
		p.NS = top.Newest.NS
		switch {
		case top.Reason == "" && top.Code != history.NoReason:
			p.Text = message.New("failing.likely", first+". Most frequent ({reasons}): {meaning}",
				append(p.Text.Facts, message.Count("reasons", top.Count), message.Text("meaning", top.Code.Meaning()))...)
		case top.Reason != "":
			p.Text = message.New("failing.reason", first+". Most frequent reason ({reasons}): {reason}",
				append(p.Text.Facts, message.Count("reasons", top.Count), message.Server("reason", top.Reason))...)
			p.Evidence = append(p.Evidence, textFrom(
				message.New("failing.reason", "Most frequent reason ({n} times)", message.Count("n", top.Count)),
				message.Server("value", top.Reason), "migrationLog", read))
		}
		var nss []string
		for _, ns := range top.NS {
			nss = append(nss, string(ns))
		}
		p.Evidence = append(p.Evidence, textFrom(message.New("failing.ns", "Collections affected"),
			message.Text("value", strings.Join(nss[:min(len(nss), 8)], ", ")), "migrationLog", read))
	}
	p.Remedy = Remedy{
		WhyNot: message.New("failing.cause",
			"No plan helps until the reason is gone. The activity page lists each failure."),
		Commands: []Command{
			readCommand(`db.getSiblingDB("config").changelog.find({what: "moveChunk.error"}).sort({time: -1}).limit(5)`,
				"failing.log", "the newest failures as the server logged them"),
		},
	}
	ev.add(p)
}

// failingText says how many moves failed, and between which shards where all of them were between the same.
func failingText(lately Lately) (pattern string, facts []message.Fact) {
	facts = []message.Fact{message.Count("n", lately.Failed), message.Count("moves", lately.Moves), message.Duration("over", lately.Over)}
	pattern = "Within {over}, {n} moves"
	if lately.From != "" {
		pattern += " from {from}"
		facts = append(facts, message.Shard("from", lately.From))
	}
	if lately.To != "" {
		pattern += " to {to}"
		facts = append(facts, message.Shard("to", lately.To))
	}
	return pattern + " failed and {moves} succeeded", facts
}
