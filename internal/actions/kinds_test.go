package actions

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

const (
	documents = topology.Namespace(db + ".documents")
	clients   = topology.Namespace(db + ".clients")
	changes   = topology.Namespace(db + ".changes")
)

func project(n byte) bson.D { return bson.D{{Key: "project_id", Value: oid(n)}} }

func yes(b bool) *bool { return &b }

func mb(n int) *int { return &n }

// stepsCase is a plan whose steps are known.
type stepsCase struct {
	name    string
	kind    Kind
	args    func(Situation) Args
	ops     string
	blocked bool
	change  []func(*Situation)
}

func steps(name string, k Kind, args func(Situation) Args, ops string, change ...func(*Situation)) stepsCase {
	return stepsCase{name, k, args, ops, false, change}
}

func blocked(name string, k Kind, args func(Situation) Args, ops string, change ...func(*Situation)) stepsCase {
	return stepsCase{name, k, args, ops, true, change}
}

func runSteps(t *testing.T, layout string, cases []stepsCase) {
	t.Helper()
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			s := cluster(t, layout, "5.0.7", x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			var got []string
			for _, op := range ops(d) {
				got = append(got, string(op))
			}
			expect.That(t, strings.Join(got, " ") == x.ops && d.Blocked() == x.blocked,
				"steps %v, want %s; blocked: %t\n%+v", got, x.ops, d.Blocked(), d.Checks)
			expect.That(t, d.Summary.Code != "" && d.Role != "" && d.Risk != "", "incomplete: %+v", d)
			for _, step := range d.Steps {
				expect.That(t, len(step.Proof) != 0 && len(step.Needs) != 0,
					"%s has %d needs and %d proofs", step.Op, len(step.Needs), len(step.Proof))
			}
		})
	}
}

func TestStepsOfEachKindByRelease(t *testing.T) {
	at := func(d any) bson.Raw { return doc(d) }
	parts := func(ns topology.Namespace, n int) func(Situation) Args {
		return func(s Situation) Args { return Args{NS: ns, Bounds: chunkAt(t, s, ns, 1), Parts: n} }
	}
	runSteps(t, "0.6.38", []stepsCase{
		steps("split at the median", Split, ofChunk(t, 1, ""), "splitMedian"),
		steps("split hashes into four", Split, parts(changes, 4), "splitAt splitAt splitAt"),
		blocked("split projects into more parts than there are", Split, parts(documents, 3), ""),
		blocked("split a lone project", Split, ofChunk(t, 2, ""), "splitMedian"),
		steps("move from 6.0 on", MoveChunk, ofChunk(t, 1, "c"), "move", version("7.0.2")),
		steps("move a part before 6.0", MoveChunk, func(s Situation) Args {
			return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c", Min: at(project(25)), Max: at(project(35))}
		}, "splitAt splitAt move", version("4.4.9")),
		steps("move a part from 6.0 on", MoveChunk, func(s Situation) Args {
			return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c", Min: at(project(25))}
		}, "moveRange", version("8.0.4")),
		blocked("move to where it is", MoveChunk, ofChunk(t, 1, "b"), ""),
		steps("split two hot chunks", SplitHot, func(s Situation) Args {
			return Args{NS: documents, Chunks: []string{encoded(chunkAt(t, s, documents, 0)[0]), encoded(chunkAt(t, s, documents, 1)[0])}}
		}, "splitAt splitAt move move", withOwners(t, documents, "bbc"),
			withWrites(t, documents, nil, rows{10: 50, 11: 50, 21: 50, 30: 50}), withShardWrites(1, 20, 2)),
		steps("split where the writes are from 6.0 on", SplitHot, ofChunk(t, 1, ""), "splitAt move",
			version("8.0.4"), withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(0, 10, 5)),
		steps("merge by min and max", Merge, func(s Situation) Args {
			return Args{NS: documents, Min: chunkAt(t, s, documents, 0)[0], Max: chunkAt(t, s, documents, 1)[1]}
		}, "merge", withOwners(t, documents, "bbc")),
		blocked("merge over two shards", Merge, func(s Situation) Args {
			return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
		}, ""),
		steps("split a project's documents", SplitProject, fixed(Args{Project: "gamma", NS: documents}), "splitAt splitAt"),
		steps("split a project whose key goes on", SplitProject, fixed(Args{Project: "beta", NS: clients}), "splitAt splitAt"),
		steps("pin by the balancer", Pin, fixed(Args{Project: "beta", Shard: "c", Mode: "balancer"}),
			"addShardToZone setZoneRange setZoneRange await await",
			balancing),
		blocked("pin by a balancer that is off", Pin, fixed(Args{Project: "beta", Shard: "c", Mode: "balancer"}),
			"addShardToZone setZoneRange setZoneRange await await"),
		steps("isolate", Isolate, fixed(Args{Project: "delta", Shard: "c"}),
			"splitAt splitAt splitAt addShardToZone setZoneRange setZoneRange addShardToZone addShardToZone "+
				"setZoneRange setZoneRange setZoneRange setZoneRange move move move"),
		blocked("unpin a project that is not pinned", Unpin, fixed(Args{Project: "beta"}), ""),
		steps("unpin a project that no longer exists", Unpin, fixed(Args{Project: oid(77).Hex()}),
			"removeZoneRange removeShardFromZone",
			zone(t, placement.PinZone(oid(77).Hex()), "b", documents, from(t, 77), from(t, 78))),
		blocked("add a shard that is already in the zone", ZoneAddShard, fixed(Args{Shard: "a", Zone: "eu"}), "",
			zone(t, "eu", "a", documents, from(t, 20), from(t, 30))),
		blocked("remove the last shard of a zone with ranges", ZoneRemoveShard, fixed(Args{Shard: "a", Zone: "eu"}),
			"removeShardFromZone",
			zone(t, "eu", "a", documents, from(t, 20), from(t, 30))),
		steps("set a range", ZoneSetRange, fixed(Args{NS: documents, Zone: "eu", Min: at(project(30)), Max: at(project(35))}),
			"setZoneRange",
			zone(t, "eu", "a", documents, from(t, 20), from(t, 30))),
		blocked("overlap a range", ZoneSetRange, fixed(Args{NS: documents, Zone: "us", Min: at(project(10)), Max: at(project(50))}),
			"",
			zone(t, "eu", "a", documents, from(t, 20), from(t, 30)), zone(t, "us", "b", documents, from(t, 30), from(t, 35))),
		blocked("a range for a zone without shard", ZoneSetRange, fixed(Args{NS: documents, Zone: "eu",
			Min: at(project(10)), Max: at(project(50))}),
			"setZoneRange"),
		steps("a range of leading fields", ZoneSetRange, fixed(Args{NS: clients, Zone: "eu", Min: at(project(30)), Max: at(project(35))}),
			"setZoneRange",
			zone(t, "eu", "a", documents, from(t, 20), from(t, 30))),
		blocked("balancer already on", BalancerOn, fixed(Args{}), "", balancing),
		steps("a refused window", BalancerWindow, fixed(Args{}), "setBalancerWindow", func(s *Situation) {
			s.Table.Balancer.Refused = []topology.RefusedSetting{{Doc: "balancer", Field: "activeWindow"}}
		}),
		steps("windows by day", BalancerWindow, fixed(Args{Days: "Monday 1:00-2:00"}), "setBalancerWindow", version("8.3.0")),
		steps("windows by day go", BalancerWindow, fixed(Args{}), "setBalancerWindow", func(s *Situation) {
			s.Table.Balancer.Days = []topology.DayWindow{{Start: "1:00", Stop: "2:00"}}
		}),
		blocked("no window, unchanged", BalancerWindow, fixed(Args{}), ""),
		blocked("collection already on", BalanceCollection, fixed(Args{NS: documents, On: yes(true)}), ""),
		blocked("moves are allowed already", AllowMigrations, fixed(Args{NS: documents, On: yes(true)}), ""),
		blocked("block moves before 5.0", AllowMigrations, fixed(Args{NS: documents, On: yes(false)}), "setMigrations",
			version("4.4.9")),
		steps("chunk size", ChunkSize, fixed(Args{NS: documents, Size: mb(32)}), "setChunkSize", version("6.0.3")),
		blocked("chunk size before 6.0", ChunkSize, fixed(Args{NS: documents, Size: mb(32)}), "setChunkSize"),
		blocked("the cluster's chunk size already", ChunkSize, fixed(Args{NS: documents, Size: mb(0)}), "", version("7.0.2")),
		steps("automatic merging", AutoMerge, fixed(Args{NS: documents, On: yes(false)}), "setAutoMerge", version("7.0.2")),
		blocked("automatic merging before 7.0", AutoMerge, fixed(Args{NS: documents, On: yes(false)}), "setAutoMerge",
			version("6.0.9")),
		steps("defragment", Defragment, fixed(Args{NS: documents, On: yes(true)}), "defragment", version("7.0.2"), balancing),
		blocked("defragment before 6.0", Defragment, fixed(Args{NS: documents, On: yes(true)}), "defragment", balancing),
		blocked("defragment without a balancer", Defragment, fixed(Args{NS: documents, On: yes(true)}), "defragment",
			version("7.0.2")),
		blocked("stop what is not running", Defragment, fixed(Args{NS: documents, On: yes(false)}), "", version("7.0.2")),
		blocked("clear a flag that is not set", ClearJumbo, ofChunk(t, 1, ""), ""),
	})
	runSteps(t, "0.4", []stepsCase{
		blocked("split ranges of unknown ids into four", Split, parts(changes, 4), ""),
		steps("pin by moves in 0.4", Pin, fixed(Args{Project: "pk-beta", To: "c"}),
			"splitAt splitAt addShardToZone setZoneRange setZoneRange move move"),
		blocked("spread where nothing is hashed", Spread, fixed(Args{Project: "beta"}), ""),
	})
}

func TestPlansWithoutUndoNeedTypedConfirmation(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", withOwners(t, documents, "aBc"))
	unknown := s
	table := *s.Table
	table.Balancer.Known = false
	unknown.Table = &table
	for kind, x := range map[Kind]struct {
		s Situation
		a Args
	}{ClearJumbo: {s, Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)}},
		RefineKey:      {s, Args{NS: documents, Key: refined}},
		BalancerWindow: {unknown, Args{Start: "01:00", Stop: "05:00"}}} {
		if d, _ := plan(t, x.s, kind, x.a); d.Undo.Possible || d.Confirm == "" || d.Risk != High {
			t.Errorf("%s: undo %v, confirm %q, risk %s", kind, d.Undo.Possible, d.Confirm, d.Risk)
		}
	}
}

func TestChunkIsFoundByFullOrShortReference(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	whole := chunkAt(t, s, documents, 1)
	id := operation.UUIDText(s.Table.Collection(documents).Incarnation.UUID)
	for _, ref := range []string{encoded(whole[0]), id + "." + encoded(whole[0])} {
		d, a := plan(t, s, MoveChunk, Args{NS: documents, Chunk: ref, To: "c"})
		if len(d.Steps) != 1 || a.Chunk != "" || string(a.Bounds[0]) != string(whole[0]) || string(a.Bounds[1]) != string(whole[1]) {
			t.Errorf("%s: %+v, %v", ref, a, d.Steps)
		}
	}
}

func TestMovesWaitForCleanupUnlessMany(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	d, _ := plan(t, s, MoveChunk, Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"})
	expect.That(t, d.Steps[0].Wait && d.Undo.From.IsZero() && d.Undo.Possible,
		"wait %t, undo %+v", d.Steps[0].Wait, d.Undo)
	s = cluster(t, "0.6.38", "5.0.7", balancing)
	d, _ = plan(t, s, Pin, Args{Project: "beta", Shard: "c", Mode: ModeBalancer})
	if got := d.Undo.From.Sub(now); got < OrphanDelay {
		t.Errorf("the undo of what the balancer moved works %s from now", got)
	}
	many := manyChunksOf(t, 30)
	d, _ = plan(t, many, Pin, Args{Project: "beta", Shard: "c"})
	moved := slices.IndexFunc(d.Steps, func(s operation.Step) bool { return s.Op == operation.OpMove })
	if moved < 0 || d.Steps[moved].Wait || d.Undo.From.Before(now.Add(OrphanDelay)) || d.Risk != High || d.Confirm != "beta" {
		t.Errorf("wait, undo from %s, risk %s, confirm %q", d.Undo.From, d.Risk, d.Confirm)
	}
}

// manyChunksOf makes a cluster in which the clients of beta are n chunks on b.
func manyChunksOf(t *testing.T, n int) Situation {
	s := cluster(t, "0.6.38", "5.0.7")
	c := s.Table.Collection(clients)
	all := []topology.Chunk{}
	at := c.Key.Min()
	for i := range n {
		next := keyOf(t, c.Key, oid(20), int64(i))
		all = append(all, topology.Chunk{Min: at, Max: next, Shard: "b", Version: topology.Version{Major: 1, Minor: uint32(i)}})
		at = next
	}
	all = append(all, topology.Chunk{Min: at, Max: c.Key.Max(), Shard: "b", Version: topology.Version{Major: 2}})
	m := must.Get(topology.BuildChunks(c.Key, all))
	c.Chunks = m
	return s
}

func TestEveryOperationIsOfAKindAndHasAnUndoOrNoneAtAll(t *testing.T) {
	var kinds []operation.Op
	for _, k := range Descriptions() {
		kinds = append(kinds, k.Sends...)
	}
	for _, op := range operation.Operations() {
		expect.That(t, slices.Contains(kinds, op), "%s is of no kind: it would never need approval", op)
		expect.That(t, draftings[op].undo != nil || !(operation.Step{Op: op}).Invertible(),
			"%s has no undo and is not final", op)
	}
}

func TestEveryKindAndArgumentIsDescribed(t *testing.T) {
	sentence := func(what, text string) {
		expect.That(t, text != "" && strings.HasSuffix(text, ".") && strings.ToUpper(text[:1]) == text[:1],
			"%s: %q is no sentence", what, text)
	}
	used := map[string]bool{}
	for _, k := range Descriptions() {
		name := string(k.Kind)
		expect.That(t, k.Title != "" && k.Title != name && k.plan != nil, "%s has the title %q", name, k.Title)
		sentence(name, k.Lead)
		sentence(name, k.Proof)
		sentence(name, k.Undo)
		var names []string
		for _, x := range k.Arguments {
			shared, ok := ArgumentNamed(x.Name)
			expect.That(t, ok && !slices.Contains(names, x.Name),
				"%s: the argument %q is not a shared one, or is there twice", name, x.Name)
			expect.That(t, x.Type == shared.Type || x.Type == TypeNamespace && shared.Type == TypeCollection,
				"%s: %s is a %s, elsewhere a %s", name, x.Name, x.Type, shared.Type)
			sentence(name+" "+x.Name, x.Help)
			names, used[x.Name] = append(names, x.Name), true
		}
		for _, x := range k.Arguments {
			for _, other := range x.Or {
				expect.That(t, slices.Contains(names, other),
					"%s: %s can be said by %q, which it does not take", name, x.Name, other)
			}
		}
		expect.Equal(t, Describe(k.Kind).Title, k.Title, "%s is there twice", name)
	}
	for _, x := range Arguments() {
		sentence(x.Name, x.Help)
		expect.That(t, x.Label != "" && used[x.Name], "%s has the label %q, used: %t", x.Name, x.Label, used[x.Name])
		expect.That(t, (x.Type == TypeChoice || x.Type == TypeBool) == (len(x.Choices) > 0 && x.Type != TypeDuration),
			"%s: a %s with %d choices", x.Name, x.Type, len(x.Choices))
	}
}

func TestAMissingArgumentIsExplainedInOneSentence(t *testing.T) {
	for _, k := range Descriptions() {
		for _, x := range k.Arguments {
			text := x.missing(k.Kind).Error()
			expect.That(t, strings.HasSuffix(text, ".") && !strings.HasSuffix(text, ".."), "%s %s: %q", k.Kind, x.Name, text)
		}
	}
}

func TestUnknownKindIsDescribedByItsName(t *testing.T) {
	k := Kind("later")
	if d := Describe(k); Known(k) || d.Title != "later" || Describe(k).Adapts || Describe(k).KeepsGoal {
		t.Errorf("%+v", d)
	}
}

// -update writes the tables.
func TestDocumentTablesMatchDescriptions(t *testing.T) {
	const path = "../../docs/change-kinds.md"
	raw := must.Get(os.ReadFile(path))
	text := replaceSection(t, string(raw), "kinds", kindTable())
	text = replaceSection(t, text, "arguments", argumentTable())
	switch {
	case text == string(raw):
	case *update:
		must.Do(t, os.WriteFile(path, []byte(text), 0o644))
	default:
		t.Errorf("the tables of %s are out of date; run this test with -update", path)
	}
}

// replaceSection replaces the table between the marks of a name.
func replaceSection(t *testing.T, text, name, table string) string {
	t.Helper()
	before, rest, begins := strings.Cut(text, "<!-- "+name+":")
	mark, rest, marked := strings.Cut(rest, "-->\n")
	_, after, ends := strings.Cut(rest, "<!-- end of "+name+" -->")
	must.That(t, begins && marked && ends, "the document has no marks for the table of %s", name)
	return before + "<!-- " + name + ":" + mark + "-->\n" + table + "<!-- end of " + name + " -->" + after
}

func kindTable() string {
	var b strings.Builder
	b.WriteString("| kind | what it does | arguments | proven by | undone by |\n|---|---|---|---|---|\n")
	for _, k := range Descriptions() {
		var names []string
		for _, x := range k.Arguments {
			name := "`" + x.Name + "`"
			if x.Required {
				name = "**" + name + "**"
			}
			names = append(names, name)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Kind, k.Lead, strings.Join(names, ", "), k.Proof, k.Undo)
	}
	return b.String()
}

func argumentTable() string {
	var b strings.Builder
	b.WriteString("| argument | type | what it is |\n|---|---|---|\n")
	for _, x := range Arguments() {
		kind := string(x.Type)
		if x.Type == TypeChoice {
			var values []string
			for _, c := range x.Choices {
				values = append(values, "`"+c.Value+"`")
			}
			kind = strings.Join(values, " or ")
		}
		if x.Default != "" {
			kind += ", default `" + x.Default + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", x.Name, kind, x.Help)
	}
	return b.String()
}
