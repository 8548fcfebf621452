extension Unicode.Scalar {
    /// Whether it cannot be seen, is obeyed by a terminal, or may turn a line around.
    package var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return true
        default: break
        }
        // Variation selectors are invisible, too, but belong to emoji.
        return properties.isDefaultIgnorableCodePoint && !(0xFE00...0xFE0F).contains(value)
    }
}
