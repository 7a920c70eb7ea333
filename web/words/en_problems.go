package words

// problems are the labels of lists of problems.
var problems = map[string]string{
	"problems.critical.one":       "{n} critical problem",
	"problems.critical.many":      "{n} critical problems",
	"problems.warn.one":           "{n} warning",
	"problems.warn.many":          "{n} warnings",
	"problems.info.one":           "{n} note",
	"problems.info.many":          "{n} notes",
	"problems.none":               "No problems",
	"problems.none.unchecked.one": "No problems found; {n} of {rules} rules could not be checked in full",

	"problems.none.unchecked.many": "No problems found; {n} of {rules} rules could not be checked in full",
	"problems.none.dismissed.one":  "No open problems, {n} dismissed",
	"problems.none.dismissed.many": "No open problems, {n} dismissed",
	"problems.more.one":            "{n} more problem",
	"problems.more.many":           "{n} more problems",
	"problems.unchecked.one":       "{n} of {rules} rules could not be checked in full",
	"problems.unchecked.many":      "{n} of {rules} rules could not be checked in full",
	"problems.dismissed.one":       "{n} dismissed problem",
	"problems.dismissed.many":      "{n} dismissed problems",
	"status.problems":              "{status} · {problems}",

	"advice.noplans.off":  "Remedies are listed without links: this shardboard may not change the cluster (--actions=off).",
	"advice.noplans.role": "Remedies are listed without links: making a plan needs the role operator.",
	"problems.severities": "What the severities mean",

	"method.migrationLog":   "Counted in config.changelog",
	"method.run":            "From the run's record",
	"heat.plan.refused":     "No plan: {why}",
	"advice.not.allRefused": "No plan helps as things are: each is blocked for the reason given.",
}
