package doctor_test

import (
	"strings"
	"testing"

	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func TestAtlasIsNamedWithWhatItRefusesAndGetsNoGrants(t *testing.T) {
	denied := fault.New(fault.Forbidden, "no")
	table := &topology.Table{Health: map[topology.Part]topology.Health{
		topology.PartBalancer: {Err: denied, Denied: true, Product: topology.Atlas},
		topology.PartZones:    {Err: denied, Denied: true, Privilege: "find on config.tags"},
	}}
	examine := func(product string) doctor.Report {
		r, err := doctor.Examine(t.Context(), &fakeCluster{id: topology.Identity{Users: someone}}, doctor.Subject{
			Table: table, Profile: profile.Yorkie(),
			Server: topology.ServerInfo{Version: "8.0.4", Product: product, Hosts: "h:1"},
		})
		must.Do(t, err)
		return r
	}
	r := examine(topology.Atlas)
	check(t, r, "atlas", doctor.Warns)
	for _, c := range r.Checks {
		if c.Code == "atlas" && (!strings.Contains(c.Args["refused"], topology.PartBalancer.Name()) ||
			!strings.Contains(c.Args["refused"], topology.PartZones.Name())) {
			t.Errorf("refused: %v", c.Args)
		}
		expect.That(t, c.Code != "release" || c.Args["name"] == "MongoDB Atlas 8.0.4", "release: %v", c.Args)
	}
	if commands := doctor.Remedies(r, true); commands != nil {
		t.Errorf("commands that Atlas does not know: %v", commands)
	}
	if r = examine(topology.Percona); doctor.Remedies(r, true) == nil {
		t.Error("no commands for Percona Server")
	}
}
