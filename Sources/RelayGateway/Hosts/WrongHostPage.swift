/// The answer to a request that names the relay by a name that is not its own: where it is. [HT7]
package enum WrongHostPage {
    /// - Parameter links: addresses of this relay, **without keys**: whoever reads this page is not known.
    package static func response(links: [String]) -> HTTPResponse {
        var page = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Another address</title></head>
            <body>
            <h1>This board has another address</h1>

            """
        if links.isEmpty {
            page += "<p>Ask whoever runs it which one.</p>\n"
        } else {
            page += "<p>Open it here:</p>\n<ul>\n"
            for link in links {
                let escaped = HTMLText.escaped(link)
                page += "<li><a href=\"\(escaped)\">\(escaped)</a></li>\n"
            }
            page += "</ul>\n"
        }
        page += "</body>\n</html>\n"
        var response = HTTPResponse.text(HTTPRefusal.wrongHost.status, page, mediaType: "text/html; charset=utf-8")
        response.refusal = .wrongHost
        return response
    }
}

/// Text in a page.
package enum HTMLText {
    /// So that it is text, and the value of an attribute in quotes.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
