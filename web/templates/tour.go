package templates

import "slices"

// Tour is the tour of a demo on a page.
type Tour struct {
	Offered bool   // the page is of a demo
	On      bool   // its panel is shown
	Step    int    // of TourSteps
	From    string // the page's address, to come back to
}

// TourStep is a step of the tour, which speaks about a page.
type TourStep struct {
	Title, Text string
	Pages       []string // navigation codes of the pages that Text speaks about
	Go          string   // leads to the first of them from elsewhere
	Acts        bool     // what to do next is on the page itself, not in the tour
}

// TourSteps are the steps of the tour. web/tour knows the address of each.
func TourSteps() []TourStep {
	return []TourStep{
		{"Overview", "Each band of the picture is a collection, its colours are the shards. The line above the picture names the worst " +
			"problem. In this demo one project is hot from the start, and the line names it.",
			[]string{"overview"}, "Show the overview", false},
		{"Locate", "Type a project's name, a document's key or any id into the box at the top of any page. The answer names the shard " +
			"and says why it is there.",
			[]string{"locate"}, "Locate a project", false},
		{"Heat", "Time runs to the right, keys run down, and a strong colour means many writes. Drag over a hot part, or hold Shift and " +
			"use the arrow keys, to see which project it is and which change helps.",
			[]string{"heat"}, "Show the heat", false},
		{"Plan", "A change is planned before anything happens: make the plan on this page, read what it does and what stays behind, " +
			"then run it.",
			[]string{"runs", "advise"}, "Show the plan that helps", true},
		{"Proof", "Each step of a run is proven by reading the cluster again. The run's page also says whether it helped: a first " +
			"answer comes two minutes after the run, by the writes before and after.",
			[]string{"runs"}, "Show the newest run", false},
		{"Undo", "An undo is a plan too. It is made from how the cluster is now: plan it here, read it and run it.",
			[]string{"runs"}, "Show the newest run that can be undone", true},
	}
}

// Steps of the tour that the page of a run belongs to.
const (
	tourPlan  = 3
	tourProof = 4
)

// At is the tour on a page: who has run a plan sees its proof next.
func (t Tour) At(page string, run bool) Tour {
	if t.On && t.Step == tourPlan && page == "runs" && run {
		t.Step = tourProof
	}
	return t
}

// away tells whether a page is not one that the step speaks about.
func (s TourStep) away(page string) bool { return !slices.Contains(s.Pages, page) }
