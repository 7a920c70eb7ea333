package web

var (
	Routes = routes
	Served = served
)
