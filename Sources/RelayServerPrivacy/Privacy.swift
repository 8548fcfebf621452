// What WhiteboardRelay says to Apple's privacy report: PrivacyInfo.xcprivacy is the resource of this target, and only there.
