module example.com/conformance

go 1.18
