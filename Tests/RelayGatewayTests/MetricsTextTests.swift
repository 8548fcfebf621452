@testable import RelayGateway
import Testing

@Suite("Metrics") struct MetricsTextTests {
    @Test("the examples of Prometheus' documentation, as far as they are ours to write")
    func standard() {
        var metrics = MetricsText()
        metrics.begin("http_requests_total", .counter, "The total number of HTTP requests.")
        metrics.sample(1027, [.init("method", "post"), .init("code", "200")])
        metrics.sample(3, [.init("method", "post"), .init("code", "400")])
        metrics.begin("msdos_file_access_time_seconds", .gauge, "Escaping in label values:\n a \\ and a \"quote\"")
        metrics.sample(1.458255915e9, [.init("path", "C:\\DIR\\FILE.TXT"), .init("error", "Cannot find file:\n\"FILE.TXT\"")])
        metrics.begin("metric_without_labels", .gauge, "Minimalistic line.")
        metrics.sample(12.47)
        metrics.begin("something_weird", .gauge, "")
        metrics.sample(Double.infinity, [.init("problem", "division by zero")])
        metrics.sample(-Double.infinity)
        metrics.sample(Double.nan)
        #expect(
            metrics.text == #"""
                # HELP http_requests_total The total number of HTTP requests.
                # TYPE http_requests_total counter
                http_requests_total{method="post",code="200"} 1027
                http_requests_total{method="post",code="400"} 3
                # HELP msdos_file_access_time_seconds Escaping in label values:\n a \\ and a "quote"
                # TYPE msdos_file_access_time_seconds gauge
                msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1458255915
                # HELP metric_without_labels Minimalistic line.
                # TYPE metric_without_labels gauge
                metric_without_labels 12.47
                # HELP something_weird \#("")
                # TYPE something_weird gauge
                something_weird{problem="division by zero"} +Inf
                something_weird -Inf
                something_weird NaN

                """#)
    }

    @Test("numbers of another part of the program stand in the same families, under a label of their own")
    func parts() {
        var whole = MetricsText(), part = MetricsText()
        whole.single("up", .gauge, "One.", 1)
        part.single("up", .gauge, "One.", 2)
        part.begin("sent_total", .counter, "Two.")
        part.sample(3, [.init("lane", "messages")])
        for space in ["a", "b"] { whole.add(part, .init("space", space)) }
        #expect(
            whole.text == """
                # HELP up One.
                # TYPE up gauge
                up 1
                up{space="a"} 2
                up{space="b"} 2
                # HELP sent_total Two.
                # TYPE sent_total counter
                sent_total{space="a",lane="messages"} 3
                sent_total{space="b",lane="messages"} 3

                """)
    }

    @Test("the histogram of Prometheus' documentation: buckets hold all below them, and the last holds all")
    func histogram() {
        var histogram = MetricHistogram(bounds: [0.05, 0.1, 0.2, 0.5, 1])
        for (value, count) in [(0.05, 24_054), (0.07, 9_390), (0.2, 66_948), (0.3, 28_997), (0.75, 4_599), (1.5, 10_332)] {
            for _ in 0..<count { histogram.observe(value) }
        }
        var metrics = MetricsText()
        metrics.begin("http_request_duration_seconds", .histogram, "A histogram of the request duration.")
        metrics.histogram(histogram, [.init("lane", "messages")])
        let lines = metrics.text.split(separator: "\n").dropFirst(2).filter { !$0.contains("_sum") }
        #expect(
            Array(lines) == [
                #"http_request_duration_seconds_bucket{lane="messages",le="0.05"} 24054"#,
                #"http_request_duration_seconds_bucket{lane="messages",le="0.1"} 33444"#,
                #"http_request_duration_seconds_bucket{lane="messages",le="0.2"} 100392"#,
                #"http_request_duration_seconds_bucket{lane="messages",le="0.5"} 129389"#,
                #"http_request_duration_seconds_bucket{lane="messages",le="1"} 133988"#,
                #"http_request_duration_seconds_bucket{lane="messages",le="+Inf"} 144320"#,
                #"http_request_duration_seconds_count{lane="messages"} 144320"#,
            ])
        #expect(abs(histogram.sum - (24_054 * 0.05 + 9_390 * 0.07 + 66_948 * 0.2 + 28_997 * 0.3 + 4_599 * 0.75 + 10_332 * 1.5)) < 0.001)
        #expect(metrics.text.contains("http_request_duration_seconds_sum{lane=\"messages\"} "))
    }

    @Test("values on a bound are below it, smaller and larger ones fall into the first and last bucket")
    func bounds() {
        var histogram = MetricHistogram(bounds: [1, 2, 4])
        for value in [-5, 1, 1.0001, 2, 4, 4.0001, .infinity] { histogram.observe(value) }
        #expect(histogram.counts == [2, 2, 1, 2] && histogram.count == 7)
    }

    @Test(
        "names of metrics and labels",
        arguments: [
            ("boardrelay_messages_total", true, true), ("a:b", true, false), ("_a9", true, true), ("9a", false, false), ("", false, false),
            ("a-b", false, false), ("é", false, false),
        ])
    func names(name: String, isMetric: Bool, isLabel: Bool) {
        #expect(MetricsText.isName(name, colons: true) == isMetric && MetricsText.isName(name, colons: false) == isLabel)
    }
}
