package demo;

public class Gone {}
